// A proof says whose a wallet is, not whose the money is: anybody can prove a wallet on a payment's page. So a refund goes
// to a proven wallet only as far as that wallet has sent what is refunded, and the rest of the payment waits for its link.
// Invariant: what refunds return to a wallet because it is proven is never more than it sent.

/** A part of what a refund takes from, by who sent it. */
export interface SentPart {
  sender: string;
  amount: bigint;
}

/** A refund from the same money that was paid or is under way, by where it goes. */
export interface ReturnedPart {
  address: string;
  amount: bigint;
}

const sum = (parts: readonly { amount: bigint }[]) => parts.reduce((total, part) => total + part.amount, 0n);

/**
 * Whether a refund of that much may go to a proven wallet without anybody naming it. All addresses are canonical forms.
 *
 * @param sent all that the refund may take from: final, and on the chain
 */
export function mayReturnTo(
  wallet: string,
  amount: bigint,
  { sent, returned }: { sent: readonly SentPart[]; returned: readonly ReturnedPart[] },
): boolean {
  const ownParts = sent.filter(({ sender }) => sender === wallet);
  const returnedParts = returned.filter(({ address }) => address === wallet);
  return amount <= sum(ownParts) - sum(returnedParts);
}
