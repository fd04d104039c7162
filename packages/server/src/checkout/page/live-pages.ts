import { setTimeout as sleep } from 'node:timers/promises';
import type { PageLanguage } from '@florin/pages';
import type { PaymentDeps } from '../../payments/index.ts';
import { Fail } from '../../platform/fail.ts';
import { Condition, type OpenStream } from '../../platform/http/index.ts';
import type { FoundPage } from './find-page.ts';
import { readVersions } from './queries.ts';
import { readPage } from './read-page.ts';

const POLL_INTERVAL_MS = 1_000;
const HEARTBEAT_MS = 15_000;
/** The browser's reconnection delay. */
const RETRY_MS = 2_000;
const STREAMS_PER_PAGE_MAX = 10;
const STREAMS_MAX = 5_000;

/** A payment with open pages in this process. */
interface Watched {
  merchantId: string;
  paymentId: string;
  version: string;
  listeners: number;
  changed: Condition;
  /** The rendered view of a version, by language, shared by all listeners. */
  texts: Map<PageLanguage, { version: string; atMs: number; text: Promise<string> }>;
}

/**
 * Streams a page's new view when its payment has changed. One query a second polls the versions of all payments with open
 * pages in this process; a changed payment is read once per language.
 */
export class LivePages {
  readonly #deps: PaymentDeps;
  readonly #watched = new Map<string, Watched>();
  #streams = 0;
  #isPolling = false;

  constructor(deps: PaymentDeps) {
    this.#deps = deps;
  }

  /** @throws Fail `rate_limited` if too many streams are open: the page then polls */
  open(page: FoundPage, language: PageLanguage): OpenStream {
    const { merchantId } = page.merchant;
    const { payment_id: paymentId } = page.session;
    const known = this.#watched.get(paymentId)?.listeners ?? 0;
    if (known >= STREAMS_PER_PAGE_MAX || this.#streams >= STREAMS_MAX) {
      throw new Fail('rate_limited', { message: 'This page is open too often.', retryAfterSeconds: 5 });
    }
    return (signal) => {
      const watched = this.#join(merchantId, paymentId, signal);
      return this.#follow(watched, { page, language }, signal);
    };
  }

  #join(merchantId: string, paymentId: string, leaving: AbortSignal): Watched {
    const fresh = { merchantId, paymentId, version: '', listeners: 0, changed: new Condition() };
    const watched = this.#watched.get(paymentId) ?? { ...fresh, texts: new Map() };
    this.#watched.set(paymentId, watched);
    watched.listeners++;
    this.#streams++;
    const leave = () => {
      watched.listeners--;
      this.#streams--;
      if (watched.listeners === 0) this.#watched.delete(paymentId);
    };
    leaving.addEventListener('abort', leave, { once: true });
    if (!this.#isPolling) void this.#pollLoop();
    return watched;
  }

  async *#follow(
    watched: Watched,
    { page, language }: { page: FoundPage; language: PageLanguage },
    leaving: AbortSignal,
  ): AsyncGenerator<string> {
    yield `retry: ${RETRY_MS}\n\n`;
    let shown = '';
    try {
      while (!leaving.aborted) {
        const { version } = watched;
        if (version !== shown) {
          yield `event: page\ndata: ${await this.#read(watched, page, language)}\n\n`;
          shown = version;
        } else if (!(await watched.changed.wait(leaving, HEARTBEAT_MS))) {
          yield ':\n\n';
        }
      }
    } catch (error) {
      // The stream ends, and the browser reconnects.
      this.#deps.log.warn({ err: error }, "a payer's stream ended early");
    }
  }

  #read({ version, texts }: Watched, page: FoundPage, language: PageLanguage): Promise<string> {
    const known = texts.get(language);
    const atMs = this.#deps.clock.nowMs();
    // It tells how much time is left, so it is not for who comes later.
    if (known?.version === version && atMs - known.atMs < POLL_INTERVAL_MS) return known.text;
    const text = readPage(this.#deps, page, language).then((view) => JSON.stringify(view ?? null));
    texts.set(language, { version, atMs, text });
    text.catch(() => texts.delete(language));
    return text;
  }

  async #pollLoop(): Promise<void> {
    this.#isPolling = true;
    let hasFailed = false;
    while (this.#watched.size > 0) {
      try {
        await this.#poll();
        hasFailed = false;
      } catch (error) {
        if (!hasFailed) this.#deps.log.warn({ err: error }, "payers' pages cannot be polled");
        hasFailed = true;
      }
      await sleep(POLL_INTERVAL_MS, undefined, { ref: false });
    }
    this.#isPolling = false;
  }

  async #poll(): Promise<void> {
    const versions = await readVersions(this.#deps.db, [...this.#watched.values()]);
    for (const [paymentId, version] of versions) {
      const watched = this.#watched.get(paymentId);
      if (watched === undefined || watched.version === version) continue;
      watched.version = version;
      watched.changed.notifyAll();
    }
  }
}
