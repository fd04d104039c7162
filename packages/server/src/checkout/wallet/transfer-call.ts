const TRANSFER = 'a9059cbb';
const WORD = 64;

/** The data of a token's `transfer(address,uint256)`, as an Ethereum wallet sends it. */
export function transferData(to: string, units: bigint): string {
  const recipient = to.replace(/^0x/, '').toLowerCase();
  return `0x${TRANSFER}${recipient.padStart(WORD, '0')}${units.toString(16).padStart(WORD, '0')}`;
}
