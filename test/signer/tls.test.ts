import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { connect } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SignerClient, SignerUnavailable } from '../../packages/signer/src/client.ts';
import { createJournal, Signer, type SignerServer, serveSigner } from '../../packages/signer/src/index.ts';
import { readPolicy } from '../../packages/signer/src/policy.ts';
import { policyText } from '../../packages/signer/src/test-policy.ts';
import { accounts, keys } from '../../packages/signer/src/test-requests.ts';
import { Authority, type Identity } from '../webhooks/certificates.ts';

const NAMES = { names: ['127.0.0.1'] };
const host = '127.0.0.1';
const [ours, foreign] = [new Authority(), new Authority()];
const server = ours.issue(NAMES);
let signer: Signer;
let running: SignerServer;
let port = 0;

beforeAll(async () => {
  const journalFile = path.join(mkdtempSync(path.join(tmpdir(), 'florin-signer-tls-')), 'journal');
  createJournal(journalFile, accounts.fingerprint, Date.now());
  const policy = readPolicy(JSON.stringify(policyText()));
  signer = await Signer.open({
    keys,
    policy,
    journalFile,
    checkPassphrase: async () => {},
    log: () => {},
  });
  running = await serveSigner(signer, { host, port: 0, ...server, clientCa: ours.cert }, () => {});
  port = running.port ?? 0;
});

afterAll(async () => {
  await running?.stop();
  await signer?.close();
});

async function statusBy(identity: Identity, serverCa = ours.cert) {
  const client = new SignerClient({ host, port, ...identity, serverCa });
  try {
    return await client.status();
  } finally {
    client.close();
  }
}

test('who has a certificate of our authority is answered', async () => {
  expect((await statusBy(ours.issue(NAMES))).frozen).toBeNull();
});

test('who has none, or a stranger’s, is not; and a client talks to no stranger', async () => {
  await expect(statusBy(foreign.issue(NAMES))).rejects.toThrow(SignerUnavailable);
  await expect(statusBy(ours.issue(NAMES), foreign.cert)).rejects.toThrow(SignerUnavailable);
  const nobody = connect({ host, port, ca: ours.cert, minVersion: 'TLSv1.3' });
  const ended = await new Promise<string>((resolve) => {
    nobody.on('data', (data) => resolve(`answered ${data}`));
    nobody.once('error', () => resolve('refused'));
    nobody.once('close', () => resolve('refused'));
    nobody.write('GET /v1/status HTTP/1.1\r\nhost: a\r\n\r\n');
  });
  expect(ended).toBe('refused');
});

test('older versions of TLS are refused', async () => {
  const client = connect({ host, port, ca: ours.cert, ...ours.issue(NAMES), maxVersion: 'TLSv1.2' });
  const ended = await new Promise<string>((resolve) => {
    client.once('secureConnect', () => resolve('connected'));
    client.once('error', () => resolve('refused'));
  });
  client.destroy();
  expect(ended).toBe('refused');
});
