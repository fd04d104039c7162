import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Child, startChild } from '../child.ts';

/** Receivers in a process of their own, and what lets a sender reach and trust them. */
export interface Receivers {
  receiver: Child;
  ca: string;
  /** Their origins. */
  urls: string[];
  /** For the process of a sender. */
  env: Record<string, string>;
  close: () => Promise<void>;
}

export async function startReceivers(origins: number): Promise<Receivers> {
  const receiver = startChild('webhooks/receiver.ts', { argument: { origins } });
  const { ca, urls } = await receiver.next<{ ca: string; urls: string[] }>();
  const folder = await mkdtemp(path.join(tmpdir(), 'florin-bench-hooks-'));
  const caFile = path.join(folder, 'ca.pem');
  await writeFile(caFile, ca);
  return {
    receiver,
    ca,
    urls,
    env: { FLORIN_OUTBOUND_ALLOW: '127.0.0.0/8', FLORIN_OUTBOUND_CA_FILE: caFile },
    close: async () => {
      await receiver.stop();
      await rm(folder, { recursive: true });
    },
  };
}
