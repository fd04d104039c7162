import { afterAll, afterEach, beforeAll, describe } from 'vitest';
import type { EvmReader } from '../../../packages/server/src/chains/evm/reader.ts';
import type { ChainTransfer, ScanQuery } from '../../../packages/server/src/chains/port/port.ts';
import { hasAnvil } from '../../contracts/local-node.ts';
import { EvmEnvironment, type EvmTransfer } from './environment.ts';

/** Tests on a local chain of their own; after each, its nodes behave again. */
export function describeOnAnvil(name: string, tests: (get: () => EvmEnvironment) => void): void {
  describe.skipIf(!hasAnvil())(`on a local chain: ${name}`, () => {
    let environment: EvmEnvironment | undefined;
    const get = (): EvmEnvironment => {
      if (environment === undefined) throw new Error('the chain has not started');
      return environment;
    };
    beforeAll(async () => {
      environment = await EvmEnvironment.start();
    }, 120_000);
    afterAll(() => environment?.stop());
    afterEach(() => {
      for (const node of get().nodes) node.behave();
    });
    tests(get);
  });
}

let nextIndex = 0;

/** A deposit address that no test has used. */
export async function fresh(reader: EvmReader): Promise<string> {
  return (await reader.depositAddress({ index: nextIndex++ })).address;
}

export async function here(reader: EvmReader): Promise<string> {
  return await reader.cursorAt((await reader.head()).finalHeight);
}

/** From the first of the funded payers. */
export function transferTo(
  environment: EvmEnvironment,
  { to, amount, asset = 'USDT' }: { to: string; amount: bigint; asset?: EvmTransfer['asset'] },
): EvmTransfer {
  return { from: environment.recipient(7_000), to, asset, amount };
}

/** Scans to the end. */
export async function readFinal(
  reader: EvmReader,
  query: Pick<ScanQuery, 'cursor' | 'watch' | 'limit'>,
): Promise<{ found: ChainTransfer[]; cursor: string }> {
  const found: ChainTransfer[] = [];
  for (let { cursor } = query; ; ) {
    const page = await reader.scan({ ...query, level: 'final', cursor });
    if (query.limit !== undefined && page.transfers.length > query.limit)
      throw new Error('more transfers than the limit');
    found.push(...page.transfers);
    cursor = page.cursor;
    if (page.complete) return { found, cursor };
  }
}

export const keyOf = ({ txId, index }: ChainTransfer): string => `${txId}:${index}`;
