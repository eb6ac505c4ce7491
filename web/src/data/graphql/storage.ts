import type { SerializedEntries, SerializedRequest, StorageAdapter } from "@urql/exchange-graphcache";

const READ = "read"; // what the cache holds, one record for each of its entries
const WAITING = "waiting"; // what was done without a network
const DAY_MS = 86_400_000;
const KEPT_DAYS = 30;

interface Kept {
  entry: string;
  day: number;
}

/** Where the cache of one member is kept. */
export interface MemberStorage extends StorageAdapter {
  /** Deletes everything, and keeps nothing any more. */
  end: () => Promise<void>;
}

/**
 * Keeps a member's cache in IndexedDB. Each entry is a record of its own, so that several tabs add to it. Without
 * IndexedDB, as in some private windows, nothing is kept.
 */
export function openStorage(name: string): MemberStorage {
  const today = Math.floor(Date.now() / DAY_MS);
  const database = openDatabase(name);
  let hasEnded = false;

  async function change(store: string, edit: (records: IDBObjectStore) => void): Promise<void> {
    const opened = await database;
    if (!opened || hasEnded) return;
    const transaction = opened.transaction(store, "readwrite");
    edit(transaction.objectStore(store));
    await finished(transaction);
  }

  return {
    readData: async () => {
      const entries: SerializedEntries = {};
      const outdated: IDBValidKey[] = [];
      await eachRecord(await database, READ, (key, { entry, day }: Kept) => {
        if (day < today - KEPT_DAYS) outdated.push(key);
        else entries[key as string] = entry;
      });
      if (outdated.length > 0)
        await change(READ, (records) => outdated.forEach((key) => void records.delete(key)));
      return entries;
    },
    writeData: (delta) =>
      change(READ, (records) => {
        for (const [key, entry] of Object.entries(delta)) {
          if (entry === undefined) records.delete(key);
          else records.put({ entry, day: today }, key);
        }
      }),
    readMetadata: async () => {
      let requests: SerializedRequest[] = [];
      await eachRecord(await database, WAITING, (_, kept: SerializedRequest[]) => {
        requests = kept;
      });
      return requests;
    },
    writeMetadata: (requests) => void change(WAITING, (records) => void records.put(requests, WAITING)),
    onOnline: (send) => addEventListener("online", () => !hasEnded && send()),
    end: async () => {
      await Promise.all([READ, WAITING].map((store) => change(store, (records) => void records.clear())));
      hasEnded = true;
    },
  };
}

async function openDatabase(name: string): Promise<IDBDatabase | null> {
  const opening = indexedDB.open(name, 1);
  opening.onupgradeneeded = () => {
    opening.result.createObjectStore(READ);
    opening.result.createObjectStore(WAITING);
  };
  return new Promise((resolve) => {
    opening.onsuccess = () => resolve(opening.result);
    opening.onerror = () => resolve(null);
  });
}

async function eachRecord<Value>(
  database: IDBDatabase | null,
  store: string,
  take: (key: IDBValidKey, value: Value) => void,
): Promise<void> {
  if (!database) return;
  const transaction = database.transaction(store, "readonly");
  const records = transaction.objectStore(store);
  const [keys, values] = [records.getAllKeys(), records.getAll()];
  await finished(transaction);
  keys.result.forEach((key, place) => void take(key, values.result[place] as Value));
}

function finished(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onerror = () => reject(transaction.error);
    transaction.onabort = () => reject(transaction.error);
  });
}
