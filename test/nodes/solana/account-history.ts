import type { Address, EncodedAccount, MaybeEncodedAccount } from '@solana/kit';

export type ExistingAccount = Extract<MaybeEncodedAccount, { exists: true }>;

export function existing(account: EncodedAccount): ExistingAccount {
  return { ...account, data: Uint8Array.from(account.data), exists: true };
}

interface Version {
  slot: number;
  /** As it was before this slot. */
  before: MaybeEncodedAccount;
}

/** What accounts were before each slot that changed them: LiteSVM itself knows its newest state alone. */
export class AccountHistory {
  readonly #versions = new Map<Address, Version[]>();

  /** The first change of a slot counts: within one, nobody sees what is between. */
  record(slot: number, before: MaybeEncodedAccount): void {
    const versions = this.#versions.get(before.address) ?? [];
    if (versions.at(-1)?.slot !== slot) versions.push({ slot, before });
    this.#versions.set(before.address, versions);
  }

  /** @returns undefined where nothing has changed since: the newest state is that of the slot */
  at(address: Address, slot: number): MaybeEncodedAccount | undefined {
    return this.#versions.get(address)?.find((version) => version.slot > slot)?.before;
  }

  /** Forgets what happened after the slot. @returns the accounts as they were, to be written back */
  revertTo(slot: number): MaybeEncodedAccount[] {
    const reverted: MaybeEncodedAccount[] = [];
    for (const [address, versions] of this.#versions) {
      const first = versions.findIndex((version) => version.slot > slot);
      const [undone] = first === -1 ? [] : versions.splice(first);
      if (undone !== undefined) reverted.push(undone.before);
      if (versions.length === 0) this.#versions.delete(address);
    }
    return reverted;
  }
}
