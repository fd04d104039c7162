import { EvmEnvironment } from '../../test/chains/evm/environment.ts';
import { callsOfIdle } from '../../test/chains/evm/idle-calls.ts';
import { interleave } from '../rounds.ts';
import type { Findings, RunOptions } from '../rows.ts';
import { median, ratios, short } from '../statistics.ts';

/** Rows 18e and 18f: calls of a node while nothing is paid to anybody. */
export async function measureIdle(options: RunOptions): Promise<Findings> {
  const blocks = options.quick ? 20 : 50;
  const environment = await EvmEnvironment.start();
  const setting = (name: string, merchants: number, addresses: number) => ({
    name,
    run: () => callsOfIdle(environment, { merchants, addresses, blocks }),
  });
  try {
    const values = await interleave(
      [
        setting('calls, 1 merchant, 10 addresses', 1, 10),
        setting('calls, 200 merchants, 10 addresses', 200, 10),
        setting('calls, 1 merchant, 10,000 addresses', 1, 10_000),
      ],
      options,
    );
    const [one = [], many = [], watched = []] = Object.values(values);
    return {
      results: [
        { row: '18e', values: ratios(many, one), raw: { 'calls of 1': one, 'calls of 200': many } },
        { row: '18f', values: ratios(watched, one), raw: { 'calls beside 10,000 addresses': watched } },
      ],
      remarks: [`An idle installation calls its node ${short(median(one) / blocks)} times for each block.`],
    };
  } finally {
    await environment.stop();
  }
}
