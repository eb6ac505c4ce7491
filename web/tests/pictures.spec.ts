import { deflateSync } from "node:zlib";
import AxeBuilder from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import { card, expect, test } from "./support/perch.ts";

/** A PNG of one colour. */
function png(width: number, height: number, grey: number) {
  const row = Buffer.concat([Buffer.from([0]), Buffer.alloc(width, grey)]);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = 8; // bits for each pixel, all of them grey
  const pixels = deflateSync(Buffer.concat(Array<Buffer>(height).fill(row)));
  const buffer = Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    chunk("IHDR", header),
    chunk("IDAT", pixels),
    chunk("IEND", Buffer.alloc(0)),
  ]);
  return { name: `grey-${grey}.png`, mimeType: "image/png", buffer };
}

function chunk(kind: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(kind, "latin1"), data]);
  const ends = Buffer.alloc(8);
  ends.writeUInt32BE(data.length, 0);
  ends.writeUInt32BE(checksum(body), 4);
  return Buffer.concat([ends.subarray(0, 4), body, ends.subarray(4)]);
}

function checksum(data: Buffer): number {
  let crc = ~0;
  for (const byte of data) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

async function isLoaded(page: Page, alt: string): Promise<boolean> {
  return page
    .getByAltText(alt)
    .first()
    .evaluate((image: HTMLImageElement) => image.complete && image.naturalWidth > 0);
}

test("pictures are chosen and dropped, described, kept with the draft, posted, and seen by keyboard", async ({
  signUp,
}) => {
  const page = await (await signUp("Alice")).open();
  const write = () => page.getByRole("button", { name: "Post", exact: true }).first().click();
  const dialog = page.getByRole("dialog");
  await write();
  await page.getByLabel("Add pictures").setInputFiles(png(80, 60, 90));
  await page.getByLabel("What picture 1 shows").fill("A grey heron");
  const point = dialog.getByRole("button", { name: "Centre of picture 1" });
  await point.press("ArrowRight");
  await expect(point).toHaveAccessibleName(/55% from the left, 50% from the top/);
  await expect(dialog.getByRole("progressbar")).toHaveCount(0);
  await page.reload();
  await write();
  await expect(page.getByLabel("What picture 1 shows")).toHaveValue("A grey heron");
  const dropped = await page.evaluateHandle(
    (bytes) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([new Uint8Array(bytes)], "fog.png", { type: "image/png" }));
      return transfer;
    },
    [...png(60, 80, 200).buffer],
  );
  await dialog.locator("form").dispatchEvent("drop", { dataTransfer: dropped });
  await page.getByLabel("What picture 2 shows").fill("Fog");
  await page.getByLabel("Add pictures").setInputFiles(png(20, 20, 10));
  await dialog.getByRole("button", { name: "Remove picture 3" }).click();
  await expect(dialog.getByRole("progressbar")).toHaveCount(0);
  const { violations } = await new AxeBuilder({ page }).analyze();
  expect(violations).toEqual([]);
  await dialog.getByRole("button", { name: "Post" }).click();
  await expect(dialog).toBeHidden();
  await expect(page.getByRole("article").getByRole("button", { name: /^Open picture/ })).toHaveCount(2);
  await expect.poll(() => isLoaded(page, "A grey heron")).toBe(true);
  await page.getByRole("button", { name: "Open picture 1 of 2: A grey heron" }).press("Enter");
  await expect(page.getByRole("dialog", { name: "Picture 1 of 2" })).toBeVisible();
  await page.keyboard.press("ArrowRight");
  await expect(page.getByRole("dialog", { name: "Picture 2 of 2" }).getByAltText("Fog")).toBeVisible();
  expect((await new AxeBuilder({ page }).analyze()).violations).toEqual([]);
  await page.keyboard.press("Escape");
  await expect(page.getByRole("button", { name: "Open picture 1 of 2: A grey heron" })).toBeFocused();
});

test("a file that is no picture is refused, and the text stays", async ({ signUp }) => {
  const page = await (await signUp("Alice")).open();
  await page.getByRole("button", { name: "Post", exact: true }).click();
  await page.getByLabel("Your text").fill("Look");
  const broken = { name: "broken.png", mimeType: "image/png", buffer: Buffer.from("no picture") };
  await page.getByLabel("Add pictures").setInputFiles(broken);
  await expect(page.getByRole("alert")).toHaveText("This is no JPEG, PNG, WebP or GIF that can be read.");
  await expect(page.getByRole("dialog").getByRole("button", { name: "Post" })).toBeDisabled();
  await page.getByRole("button", { name: "Remove picture 1" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Post" }).click();
  await expect(card(page, "Look")).toBeVisible();
});

test("a message shows its pictures to the other member, and to nobody's page before", async ({ signUp }) => {
  const [alice, bob] = [await signUp("Alice"), await signUp("Bob")];
  const { startConversation } = await alice.ask<{ startConversation: { conversation: { id: string } } }>(
    "mutation S($input: StartConversationInput!) { startConversation(input: $input) { conversation { id } } }",
    { input: { userIds: [bob.id], text: "Guess what I saw" } },
  );
  const path = `/messages/${startConversation.conversation.id}`;
  const [writing, reading] = [await alice.open(path), await bob.open(path)];
  await expect(reading.getByText("Guess what I saw")).toBeVisible();
  await writing.getByLabel("Add pictures").setInputFiles(png(64, 64, 120));
  await writing.getByLabel("What picture 1 shows").fill("A bittern");
  await expect(writing.getByRole("progressbar")).toHaveCount(0);
  await writing.getByRole("button", { name: "Send", exact: true }).click();
  await expect.poll(() => isLoaded(reading, "A bittern")).toBe(true);
});

test("a member chooses an avatar and a header, and removes one", async ({ signUp }) => {
  const alice = await signUp("Alice");
  const page = await alice.open("/settings");
  for (const name of ["Avatar", "Header"]) {
    const section = page.getByRole("region", { name });
    await section.getByLabel("Choose a picture").setInputFiles(png(90, 60, 150));
    await section.getByLabel("What picture 1 shows").fill(`My ${name}`);
    await section.getByRole("button", { name: "Save" }).click();
    await expect.poll(() => isLoaded(page, `My ${name}`)).toBe(true);
  }
  expect((await new AxeBuilder({ page }).analyze()).violations).toEqual([]);
  await page.getByRole("region", { name: "Header" }).getByRole("button", { name: "Remove" }).click();
  await expect(page.getByAltText("My Header")).toHaveCount(0);
  await page.goto(`/@${alice.login}`);
  await expect(page.locator("main img").first()).toHaveAttribute("src", /^\/media\//);
});
