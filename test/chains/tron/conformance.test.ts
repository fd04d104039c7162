import { describe } from 'vitest';
import type { TronNode } from '../../../packages/server/src/chains/tron/node.ts';
import { hasAnvil } from '../../contracts/local-node.ts';
import { TRX } from '../../nodes/tron-client.ts';
import { describeChain } from '../conformance.ts';
import type { ChainEnvironment } from '../conformance-environment.ts';
import { FINAL_BLOCKS, TronEnvironment } from './environment.ts';
import { LosingNode } from './losing-node.ts';
import { lying } from './lying-node.ts';
import { mandatePayers } from './mandate-payers.ts';

/** Beyond the minute that a transaction is valid. */
const EXPIRED_MS = 180_000;
const FOR_FEES = 1_000 * TRX;

describe.skipIf(!hasAnvil())('Tron', () => {
  describeChain('Tron', openTron);
});

/** Nodes that say of each payment that it would pass: what fails is signed, too. */
function unaware(node: TronNode): TronNode {
  const passes = { result: { result: true }, constant_result: ['1'.padStart(64, '0')], energy_used: 64_000 };
  return lying(node, (method, answer, [fields]) => {
    const isTried = method === 'wallet/triggerconstantcontract' && Object(fields).data.startsWith('a9059cbb');
    return isTried ? passes : answer;
  });
}

async function openTron(): Promise<ChainEnvironment> {
  const local = await TronEnvironment.start();
  const { endpoint, chain: backend } = local.node;
  const rpc = local.endpoints();
  const node = new LosingNode(unaware(rpc));
  const rejecting = local.wallet('a recipient who is blacklisted');
  await local.owner(local.token('USDC'), 'blacklist(address)', [rejecting]);
  const chain = local.open(node);
  const hot = await chain.sender('hot');
  const payers = mandatePayers(local);
  await local.openAccount(chain);
  // As a process keeps them.
  const wallets = new Map<number, typeof chain>();
  const recipient = (number: number) => local.wallet(`recipient ${number}`);
  return {
    chain,
    holder: local.signer,
    keyRef: 'hot',
    asset: 'USDC',
    seesUnlisted: false,
    wallet: async (number) => {
      const opened = wallets.get(number) ?? local.open(node, { account: 1_000 + number });
      wallets.set(number, opened);
      return { chain: opened, keyRef: 'hot' };
    },
    fund: async (asset, amount) => {
      await local.give(asset, hot, amount);
      await local.mine(FINAL_BLOCKS);
    },
    endow: async (address) => local.node.fund(address, FOR_FEES),
    recipient,
    rejecting,
    mine: (blocks) => local.mine(blocks),
    finalBlocks: FINAL_BLOCKS,
    expire: async () => {
      backend.moveClock(EXPIRED_MS);
      await local.mine(FINAL_BLOCKS);
    },
    reorg: (depth, options) => local.reorg(depth, options),
    dropNext: async () => {
      endpoint.view.dropTransactions += 1;
    },
    pay: (transfers) => local.pay(transfers),
    payer: (number) => recipient(7_100 + number),
    ...payers,
    outage: async (isOn) => {
      if (isOn) endpoint.faults.plan({ how: 'down', times: Number.POSITIVE_INFINITY });
      else endpoint.faults.clear();
    },
    lag: async (blocks) => {
      endpoint.view.lag = blocks;
    },
    loseLog: async (level) => node.loseNext(level),
    close: async () => {
      await rpc.close();
      await local.node.stop();
    },
  };
}
