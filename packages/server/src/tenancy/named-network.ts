import { NETWORKS, type Network } from '@florin/contract/money';
import { Fail } from '../platform/fail.ts';

/** The network that a path names. @throws Fail `resource_not_found` */
export function networkNamed(text: string): Network {
  const network = NETWORKS.find((one) => one === text);
  if (network !== undefined) return network;
  throw new Fail('resource_not_found', `There is no network ${text}.`);
}
