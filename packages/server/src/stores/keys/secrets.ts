/** The context that a sealed secret key is bound to: moved to another merchant's or key's row it cannot be opened. */
export function secretContext(merchantId: string, keyId: string): string {
  return `api_key.secret/${merchantId}/${keyId}`;
}
