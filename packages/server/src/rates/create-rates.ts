import { ASSETS, type Asset, type Network } from '@florin/contract/money';
import { NIL_ID } from '../platform/db/ids/index.ts';
import { createUrlReader, type UrlReaderOptions } from '../platform/outbound/index.ts';
import type { Platform } from '../platform/platform.ts';
import { readSettings } from '../tenancy/settings/index.ts';
import { agree, type Limits, type SourceAnswer } from './agree.ts';
import { FIXED_SOURCE, fixedSource } from './fixed-source.ts';
import { HttpAnswers, httpSource } from './http-source.ts';
import {
  type Coin,
  type CoinPrice,
  type Pair,
  type RateRequest,
  type RateSource,
  type Rates,
  SourceFailed,
} from './port.ts';
import { crossRate, movedBeyond, parseRate, type Rate } from './rate.ts';
import { type RateRefusal, RateRefused } from './refused.ts';
import { RATE_SETTINGS } from './settings.ts';

const ONE = parseRate('1');
/** The coins that fees are paid in where money is real. */
const COINS: Readonly<Record<Network, { coin: Coin; unitsPerCoin: bigint }>> = {
  erc20: { coin: 'ETH', unitsPerCoin: 10n ** 18n },
  trc20: { coin: 'TRX', unitsPerCoin: 10n ** 6n },
  spl: { coin: 'SOL', unitsPerCoin: 10n ** 9n },
};
/** A lasting fault of a source is logged this often. */
const WARN_EVERY_MS = 60_000;

interface RatesDeps extends Pick<Platform, 'db' | 'log'>, UrlReaderOptions {
  clock: Pick<Platform['clock'], 'nowMs'>;
}

/** A merchant's settings. */
interface Policy extends Omit<Limits, 'nowMs'> {
  sources: readonly RateSource[];
  /** Any of them can answer. */
  hasSources: boolean;
  maxDepegBasisPoints: number;
}

function assetOf(currency: string): Asset | undefined {
  return ASSETS.find((asset) => asset === currency);
}

async function querySource(source: RateSource, pair: Pair): Promise<SourceAnswer> {
  try {
    return await source.quote(pair);
  } catch (error) {
    if (error instanceof SourceFailed) return error;
    throw error;
  }
}

class SourcedRates implements Rates {
  readonly #deps: RatesDeps;
  readonly #reader;
  readonly #answers: HttpAnswers;
  readonly #warnedAtMs = new Map<string, number>();

  constructor(deps: RatesDeps) {
    this.#deps = deps;
    this.#reader = createUrlReader(deps);
    this.#answers = new HttpAnswers(this.#reader, () => deps.clock.nowMs());
  }

  async quote(request: RateRequest): Promise<{ rate: Rate }> {
    const { token, currency } = request;
    if (token === currency) return { rate: ONE };
    const policy = await this.#policyOf(request);
    const rate = (pair: Pair) => this.#rateOf(pair, policy, request);
    const dollars = async (asset: Asset) => {
      const worth = await rate({ token: asset, currency: 'USD' });
      if (!movedBeyond(worth, ONE, policy.maxDepegBasisPoints)) return worth;
      throw this.#refuse('depegged', request, policy);
    };
    const priced = assetOf(currency);
    if (priced !== undefined) {
      const [one, other] = await Promise.all([dollars(token), dollars(priced)]);
      return { rate: crossRate(one, other) };
    }
    const [found] = await Promise.all([rate({ token, currency }), dollars(token)]);
    return { rate: found };
  }

  async priceOfCoin(network: Network): Promise<CoinPrice | undefined> {
    const { coin, unitsPerCoin } = COINS[network];
    const owner = { merchantId: NIL_ID, mode: 'live' } as const;
    const pair = { token: coin, currency: 'USD' };
    try {
      const policy = await this.#policyOf(owner);
      if (policy.sources.length === 0) return undefined;
      return { ...(await this.#rateOf(pair, policy)), unitsPerCoin };
    } catch (error) {
      if (error instanceof RateRefused) return undefined;
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.#reader.close();
  }

  async #policyOf(request: Pick<RateRequest, 'merchantId' | 'mode'>): Promise<Policy> {
    const settings = await readSettings(this.#deps.db, request, RATE_SETTINGS);
    const nowMs = () => this.#deps.clock.nowMs();
    const { maxAgeSeconds, maxDeviationBasisPoints, maxDepegBasisPoints } = settings;
    const refreshMs = Math.min(settings.refreshSeconds, maxAgeSeconds) * 1000;
    const sources = settings.sources.map((text): RateSource => {
      if (text !== FIXED_SOURCE) return httpSource(text, this.#answers, refreshMs);
      if (request.mode === 'sandbox') return fixedSource({ changes: settings.fixed, nowMs });
      // Live merchants need real rates, even where the installation's setting for both modes is the fixed table.
      return { name: text, quote: () => Promise.reject(new SourceFailed('no_rate', 'for the sandbox only')) };
    });
    const hasSources = settings.sources.some((text) => text !== FIXED_SOURCE || request.mode === 'sandbox');
    const maxAgeMs = maxAgeSeconds * 1000;
    return { sources, hasSources, maxAgeMs, maxDeviationBasisPoints, maxDepegBasisPoints };
  }

  async #rateOf(pair: Pair, policy: Policy, request: Pair = pair): Promise<Rate> {
    const answers = await Promise.all(policy.sources.map((source) => querySource(source, pair)));
    const agreement = agree(answers, { ...policy, nowMs: this.#deps.clock.nowMs() });
    for (const [index, fault] of agreement.faults.entries()) {
      const answer = answers[index];
      const detail = answer instanceof SourceFailed ? answer.message : undefined;
      if (fault !== null) this.#warn(pair, { source: policy.sources[index]?.name, fault, detail });
    }
    if ('rate' in agreement) return agreement.rate;
    throw this.#refuse(agreement.refusal, request, policy);
  }

  #refuse(reason: RateRefusal, { token, currency }: Pair, { hasSources }: Policy): RateRefused {
    this.#warn({ token, currency }, { refused: reason });
    return new RateRefused(reason, { token, currency }, hasSources);
  }

  #warn({ token, currency }: Pair, what: object): void {
    const pair = `${token}/${currency}`;
    const key = JSON.stringify([pair, what]);
    const now = this.#deps.clock.nowMs();
    if (now - (this.#warnedAtMs.get(key) ?? Number.NEGATIVE_INFINITY) < WARN_EVERY_MS) return;
    this.#warnedAtMs.set(key, now);
    this.#deps.log.warn({ pair, ...what }, 'exchange rate refused, or a source failed');
  }
}

/** The rates of this process; all merchants share the answers of providers. */
export function createRates(deps: RatesDeps): Rates {
  return new SourcedRates(deps);
}
