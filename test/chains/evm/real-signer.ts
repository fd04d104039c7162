import path from 'node:path';
import { createJournal, readPolicy, Signer, SignerMistake, serveSigner } from '@florin/signer';
import { SignerClient } from '@florin/signer/client';
import { policyText } from '../../../packages/signer/src/test-policy.ts';
import { accounts, keys } from '../../../packages/signer/src/test-requests.ts';
import type { World } from './world.ts';

/** Of the signer's keys, as a person types it. */
export const PASSPHRASE = 'correct horse battery';

/** A signer process's server in this process, on a socket, with a journal on disk. */
export async function startSigner(
  world: World,
  folder: string,
  change: (policy: ReturnType<typeof policyText>) => void = () => {},
) {
  const policy = policyText();
  const { erc20 } = policy.networks;
  erc20.tokens = world.tokens;
  erc20.batch_payout = world.network().batchPayout ?? '';
  erc20.gas_per_transaction = 16_777_216;
  change(policy);
  const journalFile = path.join(folder, 'journal');
  createJournal(journalFile, accounts.fingerprint, Date.now());
  const signer = await Signer.open({
    keys,
    policy: readPolicy(JSON.stringify(policy)),
    journalFile,
    checkPassphrase: async (given) => {
      if (given !== PASSPHRASE) throw new SignerMistake('passphrase', 'the passphrase is wrong.');
    },
    log: () => {},
  });
  const socket = path.join(folder, 'signer.sock');
  const server = await serveSigner(signer, { socket }, () => {});
  const client = new SignerClient({ socket });
  let stopped: Promise<void> | undefined;
  const end = async () => {
    client.close();
    await server.stop();
    await signer.close();
  };
  const stop = () => (stopped ??= end());
  return { client, socket, stop };
}
