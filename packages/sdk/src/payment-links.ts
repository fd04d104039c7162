import { randomUUID } from 'node:crypto';
import { priceUnits } from './amounts.ts';
import { CursorList } from './cursor-list.ts';
import { segment, type Transport } from './transport.ts';
import type { CreateOptions, PageQuery, PaymentLink, PaymentLinkChange, PaymentLinkInput } from './types.ts';

const PATH = '/payment_links';

/** Links that anybody may pay through, any number of times: each use creates a checkout session. */
export class PaymentLinks {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Give its `url` to payers, or show it as a QR code. A create in doubt is repeated under the same Idempotency-Key. */
  async create(link: PaymentLinkInput, options: CreateOptions = {}): Promise<PaymentLink> {
    const { amount, ...rest } = link;
    const body = amount === undefined ? rest : { ...rest, amount: priceUnits(amount) };
    const idempotencyKey = options.idempotencyKey ?? randomUUID();
    return this.#transport.send({ method: 'POST', path: PATH, body, idempotencyKey, onDoubt: 'repeat' });
  }

  async retrieve(linkId: string): Promise<PaymentLink> {
    return this.#transport.send({ method: 'GET', path: linkPath(linkId), onDoubt: 'repeat' });
  }

  /** Newest first. */
  list(query: PageQuery = {}): CursorList<PaymentLink> {
    return new CursorList(this.#transport, PATH, query, (link) => link.id);
  }

  /** `active: false` closes it; sessions that it has made go on. */
  async update(linkId: string, change: PaymentLinkChange): Promise<PaymentLink> {
    const path = linkPath(linkId);
    // The change is idempotent, so a read is enough before a retry.
    const read = async (): Promise<undefined> => {
      await this.#transport.once<PaymentLink>({ method: 'GET', path, onDoubt: 'repeat' });
    };
    return this.#transport.send<PaymentLink>({
      method: 'POST',
      path: `${path}/update`,
      body: change,
      onDoubt: read,
    });
  }
}

function linkPath(linkId: string): string {
  return `${PATH}/${segment(linkId)}`;
}
