/** An EIP-712 document, of our own making. */
interface TypedData {
  domain: object;
  types: object;
  primaryType: string;
  message: object;
}

const DOMAIN_FIELDS = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
  { name: 'verifyingContract', type: 'address' },
];

/** As `eth_signTypedData_v4` takes it. */
export function walletJson({ types, ...rest }: TypedData): string {
  return JSON.stringify(
    { ...rest, types: { EIP712Domain: DOMAIN_FIELDS, ...types } },
    (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value),
  );
}
