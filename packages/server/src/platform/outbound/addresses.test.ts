import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { describe, expect, test } from 'vitest';
import { HAS_CORPORA } from '../../../../../test/corpora.ts';
import { ipAddresses, metadataUrls } from '../../../../../test/own-cases/outbound.ts';
import { classifyAddress, type Network, parseNetworks } from './addresses.ts';

const NONE = { allow: [], sandbox: true };

function allowing(text: string, sandbox = true) {
  return { allow: parseNetworks(text) as Network[], sandbox };
}

describe('bad inputs', () => {
  test.each(ipAddresses())('E1, fault 34: $ip is judged $expect ($note)', ({ ip, expect: expected }) => {
    const verdict = expected === 'deny' ? 'denied' : 'allowed';
    expect(classifyAddress(ip, NONE)).toBe(verdict);
    if (ip.includes('%')) return;
    expect(classifyAddress(Uint8Array.from(ipaddr.parse(ip).toByteArray()), NONE)).toBe(verdict);
  });
  test('E1: every address at which a cloud shows its secrets is denied', () => {
    const addresses = metadataUrls()
      .map((url) => new URL(url).hostname.replace(/^\[|\]$/g, ''))
      .filter((host) => isIP(host) !== 0);
    expect(addresses.length).toBeGreaterThan(HAS_CORPORA ? 35 : 4);
    expect(addresses.filter((address) => classifyAddress(address, NONE) === 'allowed')).toEqual([]);
  });
});

test('E1: every range is shut at both ends and open just beside them', () => {
  const edges: [first: string, last: string, before: string, after: string][] = [
    ['168.63.129.16', '168.63.129.16', '168.63.129.15', '168.63.129.17'],
    ['192.31.196.0', '192.31.196.255', '192.31.195.255', '192.31.197.0'],
    ['192.52.193.0', '192.52.193.255', '192.52.192.255', '192.52.194.0'],
    ['192.175.48.0', '192.175.48.255', '192.175.47.255', '192.175.49.0'],
    ['192.88.99.0', '192.88.99.255', '192.88.98.255', '192.88.100.0'],
    ['2001::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff', '2000:ffff::', '2001:200::'],
    ['3fff::', '3fff:fff:ffff::', '3ffe:ffff::', '3fff:1000::'],
    ['2620:4f:8000::', '2620:4f:8000:ffff::', '2620:4f:7fff::', '2620:4f:8001::'],
  ];
  for (const [first, last, before, after] of edges) {
    expect([first, last].map((ip) => classifyAddress(ip, NONE))).toEqual(['denied', 'denied']);
    expect([before, after].map((ip) => classifyAddress(ip, NONE))).toEqual(['allowed', 'allowed']);
  }
});

test('E1: what is no address is denied', () => {
  for (const text of [
    '',
    '127.1',
    '0177.0.0.1',
    '2130706433',
    '1.1.1.1 ',
    '1.1.1.1/32',
    '[::1]',
    'a',
    '1.1.1',
  ]) {
    expect(classifyAddress(text, NONE)).toBe('denied');
  }
  for (const length of [0, 3, 5, 15, 17]) {
    expect(classifyAddress(new Uint8Array(length).fill(8), NONE)).toBe('denied');
  }
});

test('E1: an allow list opens its networks and nothing beside them', () => {
  const policy = allowing('10.1.0.0/16,fd00:1::/32,192.168.7.7');
  for (const ip of ['10.1.0.0', '10.1.255.255', 'fd00:1::9', '192.168.7.7', '8.8.8.8']) {
    expect(classifyAddress(ip, policy)).toBe('allowed');
  }
  for (const ip of ['10.2.0.0', '10.0.255.255', 'fd00:2::9', '192.168.7.8', '127.0.0.1', '::a01:1']) {
    expect(classifyAddress(ip, policy)).toBe('denied');
  }
});

test('E1: no allow list opens a mapped or translated address', () => {
  const everything = allowing('0.0.0.0/0,::/0');
  const shut = [
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:a9fe:a9fe',
    '64:ff9b::808:808',
    '64:ff9b:1::1',
    '2002:808:808::1',
    '2001:0:808:808::1',
    'fe80::1%lo',
  ];
  for (const ip of shut) expect(classifyAddress(ip, everything)).toBe('denied');
  expect(classifyAddress('::ffff:8.8.8.8', everything)).toBe('allowed');
  expect(classifyAddress('10.0.0.1', everything)).toBe('allowed');
});

test('E1: a loopback network serves merchants of the sandbox only, a wider one that holds it too', () => {
  for (const list of ['127.0.0.0/8,::1/128', '0.0.0.0/0,::/0']) {
    for (const ip of ['127.0.0.1', '127.9.9.9', '::1']) {
      expect(classifyAddress(ip, allowing(list))).toBe('allowed');
      expect(classifyAddress(ip, allowing(list, false))).toBe('denied');
    }
  }
  // On Linux these dial this machine as well.
  for (const ip of ['0.0.0.0', '::']) {
    expect(classifyAddress(ip, allowing('0.0.0.0/0,::/0', false))).toBe('denied');
  }
  expect(classifyAddress('10.0.0.1', allowing('0.0.0.0/0', false))).toBe('allowed');
});

test.each(['', ',', '10.0.0.0/33', '::/129', '10.0.0/8', '10.0.0.0/', '10.0.0.0/8/8', '10.0.0.0/ 8', 'a/8'])(
  'networks %j are refused',
  (text) => expect(parseNetworks(text)).toBeUndefined(),
);

test('networks are read with white space around the commas', () => {
  const read = parseNetworks('10.0.0.0/8 , ::1/128,192.168.0.1') ?? [];
  expect(read.map(([address, bits]) => `${address.toString()}/${bits}`)).toEqual([
    '10.0.0.0/8',
    '::1/128',
    '192.168.0.1/32',
  ]);
});
