import { priceUnits } from './amounts.ts';
import type { CursorList } from './cursor-list.ts';
import { Resource } from './resource.ts';
import { segment } from './transport.ts';
import type { CreateOptions, PageQuery, PaymentLink, PaymentLinkChange, PaymentLinkInput } from './types.ts';

const PATH = '/payment_links';

/** Links that anybody may pay through, any number of times: each use creates a checkout session. */
export class PaymentLinks extends Resource {
  /**
   * Give its `url` to payers, or show it as a QR code. A create in doubt is repeated under the same Idempotency-Key.
   *
   * @example
   * ```ts
   * const link = await florin.paymentLinks.create({ description: 'Coffee', amount: 350, currency: 'USD' });
   * console.log(link.url);
   * ```
   */
  async create(link: PaymentLinkInput, options: CreateOptions = {}): Promise<PaymentLink> {
    const { amount, ...rest } = link;
    const body = amount === undefined ? rest : { ...rest, amount: priceUnits(amount) };
    return this.createOnce(PATH, body, options);
  }

  /**
   * A link.
   *
   * @example
   * ```ts
   * const { active, url } = await florin.paymentLinks.retrieve(linkId);
   * ```
   */
  async retrieve(linkId: string): Promise<PaymentLink> {
    return this.read(linkPath(linkId));
  }

  /**
   * The links of the store, newest first.
   *
   * @example
   * ```ts
   * for await (const link of florin.paymentLinks.list()) console.log(link.url);
   * ```
   */
  list(query: PageQuery = {}): CursorList<PaymentLink> {
    return this.pages(PATH, query, (link) => link.id);
  }

  /**
   * Changes a link. `active: false` closes it; sessions that it has made go on.
   *
   * @example
   * ```ts
   * await florin.paymentLinks.update(linkId, { active: false });
   * ```
   */
  async update(linkId: string, change: PaymentLinkChange): Promise<PaymentLink> {
    return this.amend(linkPath(linkId), change);
  }
}

function linkPath(linkId: string): string {
  return `${PATH}/${segment(linkId)}`;
}
