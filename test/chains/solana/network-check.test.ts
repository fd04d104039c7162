import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { ChainUnavailable } from '../../../packages/server/src/chains/port/port.ts';
import {
  CheckedSolana,
  checkSolanaEndpoints,
} from '../../../packages/server/src/chains/solana/checked-solana.ts';
import type { SolanaNetwork } from '../../../packages/server/src/chains/solana/network.ts';
import { createLogger } from '../../../packages/server/src/platform/observability/index.ts';
import type { Endpoint } from '../../nodes/solana/rpc.ts';
import { TOKEN_2022 } from '../../nodes/solana/tokens.ts';
import { FINAL_BLOCKS, SolanaEnvironment } from './environment.ts';

let local: SolanaEnvironment;
let other: Endpoint;

beforeAll(async () => {
  local = await SolanaEnvironment.start();
  other = await local.node.open();
});
afterAll(() => local.node.stop());
afterEach(() => {
  other.view.genesisHash = local.node.chain.genesisHash;
  other.faults.clear();
});

const networkOf = (changes: Partial<SolanaNetwork> = {}): SolanaNetwork => ({
  ...local.network,
  endpoints: [local.node.url, other.url].map((url) => ({ url, isOwn: false })),
  ...changes,
});
const problemsOf = async (changes: Partial<SolanaNetwork> = {}) =>
  (await checkSolanaEndpoints(networkOf(changes), { log: createLogger('silent'), timeoutMs: 10_000 })).map(
    ({ problems }) => problems,
  );

test('endpoints that serve the network with its tokens have no problem', async () => {
  expect(await problemsOf()).toEqual([[], []]);
});

test('another genesis is told in one line, of its endpoint and of no other', async () => {
  const foreign = '1'.repeat(44);
  other.view.genesisHash = foreign;
  expect(await problemsOf()).toEqual([
    [],
    [`serves a chain with another genesis (${foreign}): correct its URL, or genesis_hash`],
  ]);
});

test('an endpoint that is away is told', async () => {
  other.faults.plan({ how: 'down', times: Number.POSITIVE_INFINITY });
  expect(await problemsOf()).toEqual([[], [expect.stringMatching(/./)]]);
});

test('what is no mint stops the network, with one line in the log, and nothing is read of it', async () => {
  const nobody = local.wallet('whoever is no mint');
  const tokens = { ...local.network.tokens, USDT: { mint: nobody } };
  const line = `tokens.USDT ${nobody} is not on this chain`;
  expect(await problemsOf({ tokens })).toEqual([[line], [line]]);
  // A newer program’s mints may take a fee of each transfer.
  const newer = await local.node.controls.createToken('a token of the newer program', TOKEN_2022);
  local.mine(FINAL_BLOCKS);
  expect(await problemsOf({ tokens: { USDC: { mint: newer } } })).toEqual(
    Array(2).fill([`tokens.USDC ${newer} is no mint of the token program`]),
  );
  const lines: string[] = [];
  const log = createLogger('warn', { write: (text) => void lines.push(text) });
  const rpc = local.endpoints(networkOf());
  const stopped = new CheckedSolana(rpc, networkOf({ tokens }), log);
  for (let i = 0; i < 3; i++) {
    const head = stopped.newest('finalized');
    await expect(head).rejects.toThrow(ChainUnavailable);
    await expect(head).rejects.toThrow(`the network is stopped: ${line}`);
  }
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain('Correct the networks file and start again.');
  await rpc.close();
});
