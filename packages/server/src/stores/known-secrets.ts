import { createSecretKey, type KeyObject } from 'node:crypto';
import type { Vault } from '../platform/secrets/index.ts';
import type { ParsedApiKey } from './credentials.ts';
import type { KeyAccess } from './queries.ts';
import { secretContext } from './secrets.ts';

const KEYS_KEPT = 10_000;

/** A secret of an API key, and the sealed bytes that it was opened from: a rotation changes them. */
export interface KnownSecret {
  sealed: Buffer;
  secret: KeyObject;
}

/** The sealed secrets that sign requests now: during the overlap of a rotation also the one before. */
function sealedOf(access: KeyAccess, nowMs: number): Buffer[] {
  const overlaps = access.previous_secret_until_ms !== null && access.previous_secret_until_ms > nowMs;
  return access.previous_secret !== null && overlaps
    ? [access.secret, access.previous_secret]
    : [access.secret];
}

/** Whether a secret is one of those that sign requests now. */
export function isCurrent({ sealed }: KnownSecret, access: KeyAccess, nowMs: number): boolean {
  return sealedOf(access, nowMs).some((current) => current.equals(sealed));
}

/**
 * The opened secrets of keys that requests came with, so that a signature can be judged before the key is read. What is
 * known here may be old: it never admits anybody without the key's row saying that it still holds.
 */
export class KnownSecrets {
  readonly #vault: Pick<Vault, 'open'>;
  readonly #ofKey = new Map<string, readonly KnownSecret[]>();

  constructor(vault: Pick<Vault, 'open'>) {
    this.#vault = vault;
  }

  /** Those that signed requests when the key was last read. */
  of(key: ParsedApiKey | undefined): readonly KnownSecret[] {
    return (key && this.#ofKey.get(placeOf(key))) ?? [];
  }

  /** Those of a key that has just been read; kept from now on. */
  learn(key: ParsedApiKey, access: KeyAccess, nowMs: number): readonly KnownSecret[] {
    const known = this.of(key);
    const secrets = sealedOf(access, nowMs).map(
      (sealed) => known.find((one) => one.sealed.equals(sealed)) ?? this.#open(key, access, sealed),
    );
    if (this.#ofKey.size >= KEYS_KEPT) this.#ofKey.clear();
    this.#ofKey.set(placeOf(key), secrets);
    return secrets;
  }

  #open({ merchantId }: ParsedApiKey, access: KeyAccess, sealed: Buffer): KnownSecret {
    const opened = this.#vault.open(sealed, secretContext(merchantId, access.key_id));
    return { sealed, secret: createSecretKey(opened) };
  }
}

const placeOf = ({ merchantId, digest }: ParsedApiKey) => `${merchantId}/${digest.toString('base64')}`;
