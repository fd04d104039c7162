import { priceUnits } from './amounts.ts';
import type { CursorList } from './cursor-list.ts';
import { Resource } from './resource.ts';
import { segment } from './transport.ts';
import type { CreateOptions, PageQuery, PaymentLink, PaymentLinkChange, PaymentLinkInput } from './types.ts';

const PATH = '/payment_links';

/** Links that anybody may pay through, any number of times: each use creates a checkout session. */
export class PaymentLinks extends Resource {
  /** Give its `url` to payers, or show it as a QR code. A create in doubt is repeated under the same Idempotency-Key. */
  async create(link: PaymentLinkInput, options: CreateOptions = {}): Promise<PaymentLink> {
    const { amount, ...rest } = link;
    const body = amount === undefined ? rest : { ...rest, amount: priceUnits(amount) };
    return this.createOnce(PATH, body, options);
  }

  async retrieve(linkId: string): Promise<PaymentLink> {
    return this.read(linkPath(linkId));
  }

  /** Newest first. */
  list(query: PageQuery = {}): CursorList<PaymentLink> {
    return this.pages(PATH, query, (link) => link.id);
  }

  /** `active: false` closes it; sessions that it has made go on. */
  async update(linkId: string, change: PaymentLinkChange): Promise<PaymentLink> {
    return this.amend(linkPath(linkId), change);
  }
}

function linkPath(linkId: string): string {
  return `${PATH}/${segment(linkId)}`;
}
