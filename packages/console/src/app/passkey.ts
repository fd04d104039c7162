import { PageError } from './api.ts';

/** Options of a WebAuthn request, as the service's routes answer them. */
export type PasskeyOptions = PublicKeyCredentialRequestOptionsJSON;

/** Whether this browser knows passkeys. */
export const hasPasskeys = (): boolean => typeof PublicKeyCredential === 'function';

/**
 * Asks the person for a passkey.
 *
 * @returns its answer, as the service's routes take it
 * @throws PageError where there is none, or the person took the request back
 */
export async function answerOfPasskey(options: PasskeyOptions): Promise<object> {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
  const credential = await navigator.credentials.get({ publicKey }).catch(() => null);
  if (credential instanceof PublicKeyCredential) return credential.toJSON();
  throw new PageError('No passkey has answered: none of yours is here, or the request was taken back.');
}
