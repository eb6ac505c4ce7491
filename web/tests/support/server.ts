import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const FIRST_PORT = Number(process.env.PORT ?? 8124);
const PORT = String(FIRST_PORT + Number(process.env.TEST_PARALLEL_INDEX ?? 0)); // each worker has a server of its own
const PYTHON = process.env.PYTHON ?? "python";
const READY_MS = 60_000;
const STOP_MS = 20_000;
const POLL_MS = 50;

export const ADDRESS = `http://127.0.0.1:${PORT}`;

/** A real `perch serve` with the demo and the built client. */
export class Server {
  private folder = mkdtempSync(join(tmpdir(), "perch-web-"));
  private process: ChildProcess | undefined;

  async start(): Promise<void> {
    const log = openSync(join(this.folder, "log"), "a");
    const { REDIS_URL: _, ...inherited } = process.env;
    this.process = spawn(PYTHON, ["server.py", "serve", "--demo"], {
      cwd: new URL("../../..", import.meta.url).pathname,
      env: {
        ...inherited,
        HOST: "127.0.0.1",
        PORT,
        DATA_DIR: join(this.folder, "data"),
        RATE_LIMIT: "0",
        OVERLOAD_DELAY_MS: "0",
      },
      stdio: ["ignore", log, log],
      detached: true, // a process group of its own, so that nothing outlives the tests
    });
    await until(READY_MS, async () => (await fetch(`${ADDRESS}/readyz`).catch(() => null))?.ok === true);
  }

  /** Returns the token of the link in a mail to an address. Without a mail server, mails are files. */
  async mailedToken(address: string): Promise<string> {
    const folder = join(this.folder, "data", "mail");
    let token: string | undefined;
    await until(READY_MS, async () => {
      const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".eml")) : [];
      const mails = names.map((name) => readFileSync(join(folder, name), "utf8"));
      token = mails.find((mail) => mail.includes(`To: ${address}`))?.match(/token=(\S+)/)?.[1];
      return token !== undefined;
    });
    return decodeURIComponent(token ?? "");
  }

  async stop(): Promise<void> {
    const stopping = this.process;
    this.process = undefined;
    if (!stopping?.pid) return;
    process.kill(stopping.pid, "SIGTERM");
    await until(STOP_MS, async () => stopping.exitCode !== null);
  }

  async end(): Promise<void> {
    const group = this.process?.pid;
    await this.stop();
    try {
      if (group) process.kill(-group, "SIGKILL");
    } catch {
      // everything has ended by itself
    }
    rmSync(this.folder, { recursive: true, force: true });
  }
}

async function until(most: number, holds: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + most;
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`the server took more than ${most} ms`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
