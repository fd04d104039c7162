import { createSecretKey, type KeyObject } from 'node:crypto';
import type { Vault } from '../../platform/secrets/index.ts';
import type { KeyAccess } from '../queries.ts';
import type { ParsedApiKey } from './credentials.ts';
import { secretContext } from './secrets.ts';

const KEYS_KEPT = 10_000;

/** A secret of an API key, with the sealed bytes it was opened from, which a rotation changes. */
export interface CachedSecret {
  sealed: Buffer;
  secret: KeyObject;
}

/** The sealed secrets that are valid for requests now: during the overlap of a rotation also the one before. */
function sealedOf(access: KeyAccess, nowMs: number): Buffer[] {
  const overlaps = access.previous_secret_until_ms !== null && access.previous_secret_until_ms > nowMs;
  return access.previous_secret !== null && overlaps
    ? [access.secret, access.previous_secret]
    : [access.secret];
}

/** Whether a secret is valid for requests now. */
export function isCurrent({ sealed }: CachedSecret, access: KeyAccess, nowMs: number): boolean {
  return sealedOf(access, nowMs).some((current) => current.equals(sealed));
}

/**
 * Caches the opened secrets of used keys, so that a signature can be verified before the key is read. Entries may be
 * outdated: a request is admitted only after the key's row has confirmed its secret.
 */
export class SecretCache {
  readonly #vault: Pick<Vault, 'open'>;
  readonly #ofKey = new Map<string, readonly CachedSecret[]>();

  constructor(vault: Pick<Vault, 'open'>) {
    this.#vault = vault;
  }

  /** The secrets that were valid when the key was last read. */
  of(key: ParsedApiKey | undefined): readonly CachedSecret[] {
    return (key && this.#ofKey.get(cacheKeyOf(key))) ?? [];
  }

  /** Opens and caches the secrets of a key that was just read. */
  add(key: ParsedApiKey, access: KeyAccess, nowMs: number): readonly CachedSecret[] {
    const known = this.of(key);
    const secrets = sealedOf(access, nowMs).map(
      (sealed) => known.find((one) => one.sealed.equals(sealed)) ?? this.#open(key, access, sealed),
    );
    if (this.#ofKey.size >= KEYS_KEPT) this.#ofKey.clear();
    this.#ofKey.set(cacheKeyOf(key), secrets);
    return secrets;
  }

  #open({ merchantId }: ParsedApiKey, access: KeyAccess, sealed: Buffer): CachedSecret {
    const opened = this.#vault.open(sealed, secretContext(merchantId, access.key_id));
    return { sealed, secret: createSecretKey(opened) };
  }
}

const cacheKeyOf = ({ merchantId, digest }: ParsedApiKey) => `${merchantId}/${digest.toString('base64')}`;
