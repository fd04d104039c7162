import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** A parsed network of CIDR notation. */
export type Network = [ipaddr.IPv4 | ipaddr.IPv6, number];

export interface AddressPolicy {
  /** Networks that the operator permits beyond the public ones. */
  allow: readonly Network[];
  /** Loopback networks among them are for merchants of the sandbox only. */
  sandbox: boolean;
}

function read(text: string): Network {
  return ipaddr.parseCIDR(text);
}

const LOOPBACK = ['127.0.0.0/8', '::1/128', '0.0.0.0/8', '::/128'].map(read);

/** The IANA IPv4 special-purpose registry, multicast, class E, and the address at which Azure serves its machines. */
const SPECIAL_V4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
].map(read);

/** The range assigned to the public Internet; everything outside it is special or reserved. */
const GLOBAL_V6 = read('2000::/3');

/** Entries of the IANA IPv6 special-purpose registry within the global range. */
const SPECIAL_V6 = ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20'].map(read);

/** Ranges that carry an IPv4 address for a foreign router to dial: NAT64, 6to4, Teredo. No allow list opens them. */
const TRANSLATED = ['64:ff9b::/96', '64:ff9b:1::/48', '2002::/16', '2001::/32'].map(read);

function isIn(networks: readonly Network[], address: Address): boolean {
  return networks.some(
    ([network, bits]) => network.kind() === address.kind() && address.match(network, bits),
  );
}

function isPublic(address: Address): boolean {
  if (address.kind() === 'ipv4') return !isIn(SPECIAL_V4, address);
  return isIn([GLOBAL_V6], address) && !isIn(SPECIAL_V6, address);
}

/** Undefined for text that is no address, and for addresses with a zone, which mean something on this machine only. */
function parse(address: string | Uint8Array): Address | undefined {
  if (typeof address !== 'string') {
    return address.length === 4 || address.length === 16 ? ipaddr.fromByteArray([...address]) : undefined;
  }
  // ipaddr.js also accepts octal and short forms, which no resolver answers.
  return isIP(address) === 0 || address.includes('%') ? undefined : ipaddr.parse(address);
}

/** Whether a connection to this address may be opened, judged by its bytes and not by its spelling. */
export function classifyAddress(
  address: string | Uint8Array,
  { allow, sandbox }: AddressPolicy,
): 'allowed' | 'denied' {
  const parsed = parse(address);
  if (parsed === undefined || isIn(TRANSLATED, parsed)) return 'denied';
  // A mapped address could bypass an allow list of IPv4 networks: it is allowed for public addresses only.
  if (parsed instanceof ipaddr.IPv6 && parsed.isIPv4MappedAddress()) {
    return isPublic(parsed.toIPv4Address()) ? 'allowed' : 'denied';
  }
  if (isPublic(parsed)) return 'allowed';
  return isIn(allow, parsed) && (sandbox || !isIn(LOOPBACK, parsed)) ? 'allowed' : 'denied';
}

/**
 * Reads networks separated by commas, such as `10.1.0.0/16,fd00::/8`; a single address is a network of its own.
 *
 * @returns undefined where one of them is invalid
 */
export function parseNetworks(text: string): Network[] | undefined {
  const networks = text.split(',').map((part) => parseNetwork(part.trim()));
  return networks.every((network) => network !== undefined) ? networks : undefined;
}

function parseNetwork(text: string): Network | undefined {
  const [address = '', bits, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || address.includes('%') || rest.length > 0) return undefined;
  const most = version === 4 ? 32 : 128;
  if (bits === undefined) return [ipaddr.parse(address), most];
  return /^\d{1,3}$/.test(bits) && Number(bits) <= most ? [ipaddr.parse(address), Number(bits)] : undefined;
}
