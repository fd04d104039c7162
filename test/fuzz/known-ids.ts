import { randomBytes } from 'node:crypto';
import type { Exchange } from './checks.ts';
import type { Merchant } from './run.ts';
import { isStream } from './wire.ts';

const PLACE = /\{\{(\w+):(\d+)\}\}/g;

/** The ids that a merchant's answers have shown, for later requests of the same case. */
export class KnownIds {
  readonly #ids = new Map<string, string[]>();
  /** What was deleted, or lies in one of several batches, may rightly be 404. */
  #sure = true;
  #missed = false;

  constructor({ foreign, own }: Pick<Merchant, 'foreign' | 'own'>) {
    this.#ids.set('run', [randomBytes(4).toString('hex')]);
    for (const [kind, id] of Object.entries(foreign)) this.#ids.set(`foreign_${kind}`, [id]);
    for (const [kind, id] of Object.entries(own)) this.#ids.set(kind, [id]);
  }

  /** Whether each place since the last call was filled with an id of something that surely exists. */
  takeSurety(): boolean {
    const sure = this.#sure && !this.#missed;
    this.#missed = false;
    return sure;
  }

  /** Fills the places for ids. */
  resolve(text: string): string {
    return text.replaceAll(PLACE, (_, kind: string, at: string) => {
      const ids = this.#ids.get(kind) ?? [];
      const id = ids[Number(at) % Math.max(1, ids.length)];
      if (id === undefined) this.#missed = true;
      return id ?? `${kind}_unknown`;
    });
  }

  /** Takes the ids of an answer: of a list only where it was asked for one resource, so that a case stands alone. */
  learn({ draft, answer }: Exchange): void {
    if (answer.status !== 200 || isStream(answer)) return;
    if (draft.operation.id === 'deletePayoutItem') this.#sure = false;
    const isList = answer.text.startsWith('{"object":"list"');
    if (isList && !`${draft.path}${draft.query}`.includes('{{batch_id')) return;
    this.#harvest(JSON.parse(answer.text));
    if ((this.#ids.get('batch_id')?.length ?? 0) > 1) this.#sure = false;
  }

  #harvest(value: unknown): void {
    if (typeof value !== 'object' || value === null) return;
    const { object } = value as Record<string, unknown>;
    for (const [key, inner] of Object.entries(value)) {
      if (key === 'latest_invoice' && typeof inner === 'string') this.#add('invoice_id', inner);
      // Paths call a webhook_endpoint's id endpoint_id, and a checkout.session's session_id.
      const kind =
        key === 'id' && typeof object === 'string'
          ? `${object.replace(/^(?:webhook_|checkout\.)/, '')}_id`
          : key;
      if (kind.endsWith('_id') && typeof inner === 'string') this.#add(kind, inner);
      else this.#harvest(inner);
    }
  }

  #add(kind: string, id: string): void {
    const ids = this.#ids.get(kind) ?? [];
    if (!ids.includes(id)) this.#ids.set(kind, [...ids, id]);
  }
}
