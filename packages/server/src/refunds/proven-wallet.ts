// A proof shows who owns a wallet, not who sent the money: anybody can prove a wallet on a payment's page. So a refund goes
// to a proven wallet only up to the amount that this wallet sent; the rest of the payment needs the claim link.
// Invariant: refunds never return more to a proven wallet than it sent.

/** A transfer that is being refunded. */
export interface SentPart {
  sender: string;
  amount: bigint;
}

/** Another refund of the same money that is paid or under way. */
export interface ReturnedPart {
  address: string;
  amount: bigint;
}

const sum = (parts: readonly { amount: bigint }[]) => parts.reduce((total, part) => total + part.amount, 0n);

/**
 * The most that refunds may still send to a proven wallet without a named address. All addresses are in canonical form.
 *
 * @param sent the refundable transfers: final, and on the chain
 * @returns negative where others have returned more to it than it sent
 */
export function mostToReturn(
  wallet: string,
  { sent, returned }: { sent: readonly SentPart[]; returned: readonly ReturnedPart[] },
): bigint {
  const ownParts = sent.filter(({ sender }) => sender === wallet);
  const returnedParts = returned.filter(({ address }) => address === wallet);
  return sum(ownParts) - sum(returnedParts);
}
