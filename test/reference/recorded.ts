import { exampleIdOf } from '../../packages/server/src/docs/examples/ids.ts';
import type { ReferenceExamples } from '../../packages/site/src/client/prepare-example.ts';

/** Where the sandbox of the README listens. */
const BASE_URL = 'http://127.0.0.1:8420';
const BASE_TIME = 1_764_547_200;
const TIME_FIELDS =
  /^created$|_at$|^at$|^now$|^period_(start|end)$|^current_period_|anchor$|^due_date$|^canceled_at$/;
/** Mails are whole pages. */
const TEXT_MAX = 1_000;

const KINDS: Readonly<Record<string, Parameters<typeof exampleIdOf>[0]>> = {
  mer: 'merchant',
  store: 'store',
  pb: 'payoutBatch',
  pbi: 'payoutItem',
  le: 'ledgerEntry',
  jrn: 'journal',
  evt: 'event',
  cs: 'checkoutSession',
  pay: 'payment',
  cus: 'customer',
  plink: 'paymentLink',
  pm: 'paymentMethod',
  sub: 'subscription',
  si: 'subscriptionItem',
  price: 'price',
  in: 'invoice',
  we: 'webhookEndpoint',
  whd: 'delivery',
  mail: 'mail',
  fund: 'fund',
};
const ID = /\b([a-z]+)_[0-9a-hjkmnp-tv-z]{26}\b/g;
const UUID = /\b[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}\b/g;

/** What differs from one run to the next becomes what the examples name: ids, addresses of the service, times. */
export class Recorder {
  readonly #others = new Map<string, string>();
  readonly #began: number;
  readonly #replaced: [string, string][];

  constructor(began: number, baseUrl: string, examples: ReferenceExamples, fill: (text: string) => string) {
    this.#began = began;
    const made = [...examples.ids, ...examples.fresh].map((text): [string, string] => [fill(text), text]);
    this.#replaced = [...made.filter(([real, example]) => real !== example), [baseUrl, BASE_URL]];
  }

  record(value: unknown, name = ''): unknown {
    if (typeof value === 'string') return this.#text(value);
    if (typeof value === 'number') return TIME_FIELDS.test(name) ? value - this.#began + BASE_TIME : value;
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map((one) => this.record(one));
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, this.record(one, key)]));
  }

  #text(text: string): string {
    let told = text;
    for (const [real, example] of this.#replaced) told = told.replaceAll(real, example);
    told = told.replaceAll(ID, (id, prefix: string) => this.#other(id, prefix));
    told = told.replaceAll(UUID, (uuid) => this.#uuid(uuid));
    return told.length > TEXT_MAX ? `${told.slice(0, TEXT_MAX)}…` : told;
  }

  /** An id that no example names, such as that of the store. */
  #other(id: string, prefix: string): string {
    const kind = KINDS[prefix];
    if (kind === undefined || this.#replaced.some(([, example]) => example === id)) return id;
    const known = this.#others.get(id) ?? exampleIdOf(kind, this.#others.size + 1);
    this.#others.set(id, known);
    return known;
  }

  #uuid(uuid: string): string {
    const known = this.#others.get(uuid) ?? `01985f2a-3c41-7d5e-9b60-4f1a2c7e${9_000 + this.#others.size}`;
    this.#others.set(uuid, known);
    return known;
  }
}
