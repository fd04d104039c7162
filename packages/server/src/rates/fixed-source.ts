import { FIXED_RATES } from './fixed-rates.ts';
import { type RateSource, SourceFailed } from './port.ts';
import { parseRate } from './rate.ts';

/** The name of the fixed table in the list of sources. */
export const FIXED_SOURCE = 'fixed';

interface Table {
  /** Changed entries: `EUR=0.95`, or for one token `USDT/USD=0.9`. */
  changes: readonly string[];
  nowMs: () => number;
}

/** A source with the same rates everywhere and always, for the sandbox only: real payments need real rates. */
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
