import { isCurrency } from '@florin/contract/currencies';
import { Fail } from '../platform/fail.ts';
import { integerSetting, type MerchantMode, type Setting } from '../tenancy/settings/index.ts';
import { FIXED_SOURCE } from './fixed-source.ts';
import { isSource } from './source-text.ts';

const SOURCES_MAX = 9;
const CHANGE = /^(?:(?:USDT|USDC)\/)?([A-Z]{3})=\d{1,12}(?:\.\d{1,12})?$/;

interface WordsDefinition {
  name: string;
  description: string;
  /** Separates the words of a typed value. */
  separator: RegExp;
  fallback: (mode: MerchantMode) => string[];
  isAllowed: (word: string) => boolean;
  allowed: string;
  max: number;
}

function wordsSetting({
  separator,
  isAllowed,
  allowed,
  max,
  ...definition
}: WordsDefinition): Setting<string[]> {
  return {
    ...definition,
    read: (value) => {
      const words = Array.isArray(value) ? value.map(String) : String(value).split(separator).filter(Boolean);
      const distinct = [...new Set(words)];
      if (distinct.length <= max && distinct.every(isAllowed)) return distinct;
      throw new Fail('invalid_request', {
        message: `${definition.name} must be ${allowed}.`,
        param: definition.name,
      });
    },
    write: (value) => value,
  };
}

export const RATE_SETTINGS = {
  sources: wordsSetting({
    name: 'rates.sources',
    description:
      'Sources of exchange rates, more than half of which must agree: fixed (sandbox only) or URLs with the path to the rate after #, separated by spaces.',
    separator: /\s+/,
    fallback: (mode) => (mode === 'sandbox' ? [FIXED_SOURCE] : []),
    isAllowed: (word) => word === FIXED_SOURCE || isSource(word),
    allowed: `at most ${SOURCES_MAX} of: ${FIXED_SOURCE}, or https://…{TOKEN}…{CURRENCY}…#way.to.rate[,way.to.time]`,
    max: SOURCES_MAX,
  }),
  fixed: wordsSetting({
    name: 'rates.fixed',
    description: "Changes to the sandbox's fixed rates: prices of a token such as EUR=0.95,USDT/USD=0.9.",
    separator: /[\s,]+/,
    fallback: () => [],
    isAllowed: (word) => isCurrency(CHANGE.exec(word)?.[1] ?? ''),
    allowed: 'a list such as EUR=0.95,USDT/USD=0.9',
    max: 500,
  }),
  refreshSeconds: integerSetting({
    name: 'rates.refresh_seconds',
    description: "Seconds for which a source's answer is used without a new request.",
    fallback: 15,
    min: 1,
    max: 3_600,
  }),
  maxAgeSeconds: integerSetting({
    name: 'rates.max_age_seconds',
    description: "Seconds after which a source's answer is too old.",
    fallback: 120,
    min: 1,
    max: 604_800,
  }),
  maxDeviationBasisPoints: integerSetting({
    name: 'rates.max_deviation_basis_points',
    description: 'Maximum distance of a source from the median, in hundredths of a percent.',
    fallback: 200,
    min: 0,
    max: 5_000,
  }),
  maxDepegBasisPoints: integerSetting({
    name: 'rates.max_depeg_basis_points',
    description:
      'Maximum distance of a token from one US dollar, in hundredths of a percent; beyond it there is no rate.',
    fallback: 300,
    min: 0,
    max: 5_000,
  }),
};
