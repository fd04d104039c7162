/** Kinds of resources whose ids merchants choose. */
const NAMED_KINDS = ['refund'] as const;

/**
 * The key of a resource whose id the merchant chose, such as `refund/R-1`. The id may equal one of ours: without the
 * prefix the events of a payment and of a refund could be numbered as those of one resource.
 */
export function resourceOf(kind: (typeof NAMED_KINDS)[number], ownId: string): string {
  return `${kind}/${ownId}`;
}

/** The keys of all resources that may have this public id. */
export function resourcesWithId(text: string): string[] {
  return [text, ...NAMED_KINDS.map((kind) => resourceOf(kind, text))];
}
