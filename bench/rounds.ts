import { watchSteal } from './procfs.ts';
import type { RunOptions } from './rows.ts';

const STEAL_MAX = 0.1;
const REPEATS_MAX = 3;

/** A way to do the thing that is measured; `run` answers one number. */
export interface Setting {
  name: string;
  run(): Promise<number>;
}

/**
 * Runs every setting once a round, so that each round compares what ran beside each other; the order turns from round
 * to round. A measurement during which the host gave more than a tenth of the machine to others is repeated.
 *
 * @returns the numbers of each setting, one a round
 */
export async function interleave(
  settings: readonly Setting[],
  { rounds, log }: Pick<RunOptions, 'rounds' | 'log'>,
): Promise<Record<string, number[]>> {
  const values: Record<string, number[]> = Object.fromEntries(settings.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    const turned = settings
      .map((_, i) => settings[(i + round) % settings.length])
      .filter((s) => s !== undefined);
    for (const setting of turned) {
      const value = await undisturbed(setting, log);
      values[setting.name]?.push(value);
      log(`  round ${round + 1}/${rounds} ${setting.name}: ${value.toPrecision(4)}`);
    }
  }
  return values;
}

async function undisturbed(setting: Setting, log: (line: string) => void): Promise<number> {
  for (let repeat = 0; ; repeat++) {
    const stolen = watchSteal();
    const value = await setting.run();
    const share = stolen();
    if (share <= STEAL_MAX || repeat === REPEATS_MAX) return value;
    log(`  ${setting.name}: ${Math.round(share * 100)} % of the machine was stolen, measured again`);
  }
}
