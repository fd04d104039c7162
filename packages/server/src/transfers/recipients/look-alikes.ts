/** An address as lists show it: its first and last four characters, without the 0x that all of a network have. */
export const lookOf = (address: string): string => {
  const characters = address.replace('0x', '');
  return (characters.slice(0, 4) + characters.slice(-4)).toLowerCase();
};

/** Case is a checksum in hex, and another address in base58. */
const sameAddress = (address: string) => (address.startsWith('0x') ? address.toLowerCase() : address);

/** An address that a merchant has paid. */
export interface PaidAddress {
  address: string;
  /** Whether people approved a payment to it: a small one without them is easily had, such as a refund to whichever address. */
  isApproved: boolean;
}

export interface RecipientMark {
  /** Whether the merchant has never paid this address with people's approval. */
  isNew: boolean;
  /** Another address that was paid and that this one looks like; also where this one was paid since, as a small payment is easily had. */
  looksLike: string | null;
  /** Whether people approved a payment to that one. Where they did to this one alone, it is the other that imitates. */
  isAlikeApproved: boolean;
}

/**
 * Compares a recipient with those who were paid before. Whoever wants money sent to them makes an address that looks like a
 * known one at both ends. Of several that look so, one that people approved is named.
 */
export function markRecipient(address: string, paid: readonly PaidAddress[]): RecipientMark {
  const own = sameAddress(address);
  const isNew = !paid.some((one) => one.isApproved && sameAddress(one.address) === own);
  const alikes = paid.filter(
    (one) => lookOf(one.address) === lookOf(address) && sameAddress(one.address) !== own,
  );
  const approved = alikes.find(({ isApproved }) => isApproved);
  const looksLike = (approved ?? alikes[0])?.address ?? null;
  return { isNew, looksLike, isAlikeApproved: approved !== undefined };
}
