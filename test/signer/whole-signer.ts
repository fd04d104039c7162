import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { SignerClient } from '../../packages/signer/src/client.ts';
import { createJournal, readPolicy, Signer, serveSigner } from '../../packages/signer/src/index.ts';
import { allNetworksText } from '../../packages/signer/src/test-policy.ts';
import { keys } from '../../packages/signer/src/test-requests.ts';

/** A signer behind its socket, with its journal on disk; `restart` reads the journal again. */
export async function startWholeSigner(
  change: (policy: ReturnType<typeof allNetworksText>) => void,
  clock: () => number = Date.now,
) {
  const folder = mkdtempSync(path.join(tmpdir(), 'florin-whole-signer-'));
  const text = allNetworksText();
  change(text);
  const journalFile = path.join(folder, 'journal');
  createJournal(journalFile, keys.fingerprint, clock());
  const socket = path.join(folder, 'signer.sock');
  const start = async () => {
    const signer = await Signer.open({
      keys,
      policy: readPolicy(JSON.stringify(text)),
      journalFile,
      checkPassphrase: async () => {},
      log: () => {},
      clock,
    });
    const server = await serveSigner(signer, { socket }, () => {});
    const client = new SignerClient({ socket });
    const stop = async () => {
      client.close();
      await server.stop();
      await signer.close();
    };
    return { client, stop };
  };
  let running = await start();
  return {
    socket,
    client: () => running.client,
    restart: async () => {
      await running.stop();
      running = await start();
    },
    stop: () => running.stop(),
  };
}
