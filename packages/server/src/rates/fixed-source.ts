import { FIXED_RATES } from './fixed-rates.ts';
import { type RateSource, SourceFailed } from './port.ts';
import { parseRate } from './rate.ts';

/** The name of the table among the sources. */
export const FIXED_SOURCE = 'fixed';

interface Table {
  /** Entries that differ: `EUR=0.95`, or of one token alone `USDT/USD=0.9`. */
  changes: readonly string[];
  nowMs: () => number;
}

/** The same rates on every machine and day: nobody could be paid at them, so that it serves the sandbox alone. */
export function fixedSource({ changes, nowMs }: Table): RateSource {
  const entries = new Map(FIXED_RATES);
  for (const change of changes) {
    const [key = '', rate = ''] = change.split('=');
    entries.set(key, rate);
  }
  return {
    name: FIXED_SOURCE,
    quote: async ({ token, currency }) => {
      const text = entries.get(`${token}/${currency}`) ?? entries.get(currency);
      if (text === undefined) throw new SourceFailed('no_rate', 'not in the table');
      try {
        return { rate: parseRate(text), atMs: nowMs() };
      } catch {
        throw new SourceFailed('invalid', 'no rate in the table');
      }
    },
  };
}
