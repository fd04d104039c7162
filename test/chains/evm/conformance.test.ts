import { afterAll, beforeAll, describe } from 'vitest';
import type { EvmReader } from '../../../packages/server/src/chains/evm/reader.ts';
import type { Chain } from '../../../packages/server/src/chains/port.ts';
import { hasAnvil } from '../../contracts/local-node.ts';
import {
  describeAddresses,
  describeArrival,
  describeBalances,
  describeHashes,
  describeMovedBlocks,
} from '../conformance-deposits.ts';
import type { ChainEnvironment } from '../conformance-environment.ts';
import {
  describeLostLogs,
  describeNodesAway,
  describePages,
  describeWatchSets,
} from '../conformance-scans.ts';
import { EvmEnvironment, FINAL_BLOCKS } from './environment.ts';

// The parts of the port's suite that only read. Sending and charging have no place in a reader.

/** Calls of what a reader does not have fail their test. */
function notHere(): never {
  throw new Error('a reader only reads');
}

function asChain(reader: EvmReader): Chain {
  return new Proxy(reader, {
    get: (target, name) => {
      const own: unknown = Reflect.get(target, name, target);
      if (own === undefined) return notHere;
      return typeof own === 'function' ? own.bind(target) : own;
    },
  }) as unknown as Chain;
}

function environmentOf(evm: EvmEnvironment, reader: EvmReader): ChainEnvironment {
  const node = evm.node(0);
  return {
    chain: asChain(reader),
    holder: { current: notHere, claim: notHere },
    keyRef: 'hot',
    fund: notHere,
    pay: (transfers) => evm.pay(transfers),
    payer: notHere,
    hold: notHere,
    authorize: notHere,
    approve: notHere,
    revoke: notHere,
    recipient: (number) => evm.recipient(number),
    rejecting: evm.fakeToken,
    mine: (blocks) => evm.mine(blocks),
    finalBlocks: FINAL_BLOCKS,
    expire: async () => {},
    reorg: (depth, options) => evm.reorg(depth, options),
    dropNext: notHere,
    outage: async (isOn) => {
      node.manner = isOn ? 'cut' : undefined;
    },
    lag: async (blocks) => {
      node.lag = blocks;
    },
    loseLog: async (level) => {
      node.lie = ({ method, params }, result) => {
        const isAsked =
          method === 'eth_getLogs' && (level === 'tip') === 'blockHash' in (params[0] as object);
        if (!isAsked || !Array.isArray(result) || result.length === 0) return undefined;
        node.lie = undefined;
        return result.slice(1);
      };
    },
    close: () => evm.stop(),
  };
}

describe.skipIf(!hasAnvil())('chain port: reading on anvil', () => {
  let environment: ChainEnvironment | undefined;
  const get = (): ChainEnvironment => environment ?? notHere();
  beforeAll(async () => {
    const evm = await EvmEnvironment.start();
    environment = environmentOf(evm, evm.open().reader);
  }, 120_000);
  afterAll(() => environment?.close());

  describeAddresses(get);
  describeArrival(get);
  describeMovedBlocks(get);
  describeHashes(get);
  describeBalances(get);
  describePages(get);
  describeWatchSets(get);
  describeNodesAway(get);
  describeLostLogs(get);
});
