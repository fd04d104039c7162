/** Kinds of resources whose ids are chosen by merchants. */
const NAMED_KINDS = ['refund'] as const;

/**
 * What stands for a resource whose id the merchant chose, as that may be the same text as an id of ours: a payment's and
 * its refund's events would be numbered as those of one resource.
 */
export function resourceOf(kind: (typeof NAMED_KINDS)[number], ownId: string): string {
  return `${kind}/${ownId}`;
}

/** All resources that callers may mean by a text. */
export function resourcesNamed(text: string): string[] {
  return [text, ...NAMED_KINDS.map((kind) => resourceOf(kind, text))];
}
