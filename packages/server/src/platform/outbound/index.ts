export { type AddressPolicy, classifyAddress, type Network, parseNetworks } from './addresses.ts';
export { checkCallbackUrl } from './callback-url.ts';
