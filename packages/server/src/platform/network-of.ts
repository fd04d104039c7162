import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** One subscriber has at least so many bits of an IPv6 address to choose from. */
const SUBSCRIBER_PARTS = 4;

/**
 * What limits for an address count by: an IPv4 address, or the /64 of an IPv6 one, whose owner has 2^64 addresses.
 *
 * @example networkOf('2001:db8:0:7::25') // '2001:db8:0:7::/64'
 */
export function networkOf(remoteAddress: string): string {
  const [address = ''] = remoteAddress.split('%', 1);
  if (isIP(address) === 0) return remoteAddress;
  const parsed = ipaddr.process(address);
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString();
  const parts = parsed.parts.map((part, i) => (i < SUBSCRIBER_PARTS ? part : 0));
  return `${new ipaddr.IPv6(parts).toString()}/64`;
}
