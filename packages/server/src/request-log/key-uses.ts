import type { Exchange } from '../platform/http/exchanges/index.ts';
import { type KeyUse, USES_KNOWN_TO_MS } from '../stores/key-owners/index.ts';

const KEYS_MAX = 10_000;

/** Which keys were used, each about once a minute: so often its row is told. */
export class KeyUses {
  readonly #told = new Map<string, number>();

  /** The uses in a group that are to be recorded now. A refused signature is no use. */
  due(group: readonly Pick<Exchange, 'caller' | 'answeredAtMs'>[]): KeyUse[] {
    const due = new Map<string, KeyUse>();
    for (const { caller, answeredAtMs: atMs } of group) {
      if (caller?.actor.kind !== 'key') continue;
      const { merchantId, keyId } = caller;
      const told = this.#told.get(keyId);
      // A clock that was set back must not silence a key.
      if (told !== undefined && atMs >= told && atMs < told + USES_KNOWN_TO_MS) continue;
      if (this.#told.size >= KEYS_MAX) this.#told.clear();
      this.#told.set(keyId, atMs);
      due.set(keyId, { merchantId, keyId, atMs });
    }
    return [...due.values()];
  }
}
