import { withCorpus } from '../corpora.ts';

export interface IpCase {
  ip: string;
  expect: 'deny' | 'allow';
  note: string;
}

/** Addresses of the registries of IANA for special purposes, of the internet, and forms that hide one in another. */
export const ipAddresses = (): readonly IpCase[] =>
  withCorpus<IpCase>(
    [
      { ip: '127.0.0.53', expect: 'deny', note: 'own: loopback' },
      { ip: '10.11.12.13', expect: 'deny', note: 'own: private (RFC 1918)' },
      { ip: '172.31.255.254', expect: 'deny', note: 'own: private (RFC 1918), last but one' },
      { ip: '192.168.0.10', expect: 'deny', note: 'own: private (RFC 1918)' },
      { ip: '169.254.1.1', expect: 'deny', note: 'own: link-local' },
      { ip: '100.100.0.1', expect: 'deny', note: 'own: shared by carriers (RFC 6598)' },
      { ip: '0.0.0.1', expect: 'deny', note: 'own: this network' },
      { ip: '224.0.0.251', expect: 'deny', note: 'own: multicast' },
      { ip: '240.1.2.3', expect: 'deny', note: 'own: reserved' },
      { ip: '198.18.7.7', expect: 'deny', note: 'own: benchmarks (RFC 2544)' },
      { ip: '203.0.113.77', expect: 'deny', note: 'own: documentation (RFC 5737)' },
      { ip: '::1', expect: 'deny', note: 'own: loopback' },
      { ip: 'fd12:3456::1', expect: 'deny', note: 'own: unique local (RFC 4193)' },
      { ip: 'fe80::abcd', expect: 'deny', note: 'own: link-local' },
      { ip: 'ff02::fb', expect: 'deny', note: 'own: multicast' },
      { ip: '::ffff:192.168.0.10', expect: 'deny', note: 'own: private, mapped' },
      { ip: '64:ff9b::a9fe:101', expect: 'deny', note: 'own: link-local behind NAT64' },
      { ip: '2001:db8::7', expect: 'deny', note: 'own: documentation (RFC 3849)' },
      { ip: '9.9.9.9', expect: 'allow', note: 'own: internet' },
      { ip: '172.32.0.1', expect: 'allow', note: 'own: just beside RFC 1918' },
      { ip: '100.128.0.1', expect: 'allow', note: 'own: just beside RFC 6598' },
      { ip: '2620:fe::fe', expect: 'allow', note: 'own: internet' },
      { ip: '2a00:1450:4001::1', expect: 'allow', note: 'own: internet' },
    ],
    'ssrf/ip_classification.jsonl',
    (rows) => rows,
  );

/** Where clouds show their machines' secrets. */
export const metadataUrls = (): readonly string[] =>
  withCorpus<string>(
    [
      'http://169.254.169.254/latest/meta-data/',
      'http://169.254.170.2/v2/credentials/',
      'http://[fd00:ec2::254]/latest/meta-data/',
      'http://100.100.100.200/latest/meta-data/',
      'http://192.0.0.192/latest/meta-data/',
    ],
    'ssrf/cloud-metadata.txt',
    (lines) => lines.flatMap((line) => line.match(/^http\S+/) ?? []),
  );

export interface CallbackUrlCase {
  url: string;
  /** `no_connect`: the text may be saved, the connection is refused later. */
  expect: 'reject_at_save' | 'no_connect' | 'error_not_crash' | 'redirect_not_followed';
  why: string;
  /**
   * Answers to the first questions for its name, the last one for all after it: addresses, `CNAME` with a name, or a
   * word of the DNS. 93.184.216.34 stands for a public address.
   */
  dns?: readonly (readonly string[] | string)[];
}

export const callbackUrls = (): readonly CallbackUrlCase[] =>
  withCorpus<CallbackUrlCase>(
    [
      { url: 'http://shop.example/hooks', expect: 'reject_at_save', why: 'own: not HTTPS' },
      { url: 'javascript:alert(1)', expect: 'reject_at_save', why: 'own: scheme' },
      { url: 'data:text/plain,x', expect: 'reject_at_save', why: 'own: scheme' },
      { url: '//shop.example/hooks', expect: 'reject_at_save', why: 'own: no scheme' },
      { url: 'shop.example/hooks', expect: 'reject_at_save', why: 'own: no scheme' },
      { url: '', expect: 'reject_at_save', why: 'own: empty' },
      { url: 'https://', expect: 'reject_at_save', why: 'own: no host' },
      { url: 'https://user:pass@shop.example/', expect: 'reject_at_save', why: 'own: user information' },
      { url: 'https://shop.example/#part', expect: 'reject_at_save', why: 'own: fragment' },
      { url: 'https://shop.example/a b', expect: 'reject_at_save', why: 'own: white space' },
      { url: 'https://shop.example:0/', expect: 'reject_at_save', why: 'own: port 0' },
      { url: 'https://shop.example:99999/', expect: 'reject_at_save', why: 'own: port too large' },
      { url: 'https://shop.example\\@evil.example/', expect: 'reject_at_save', why: 'own: backslash' },
      { url: `https://${'a'.repeat(64)}.example/`, expect: 'reject_at_save', why: 'own: label too long' },
      { url: 'https://192.168.0.10/hooks', expect: 'no_connect', why: 'own: private address' },
      { url: 'https://[::1]/hooks', expect: 'no_connect', why: 'own: loopback' },
      { url: 'https://2130706433/hooks', expect: 'no_connect', why: 'own: loopback as one number' },
      { url: 'https://localhost/hooks', expect: 'no_connect', why: 'own: name of this machine' },
      {
        url: 'https://inner.shop.example/',
        expect: 'no_connect',
        dns: [['10.1.2.3']],
        why: 'own: an inner address',
      },
      {
        url: 'https://mixed.shop.example/',
        expect: 'no_connect',
        dns: [['93.184.216.34', '127.0.0.1']],
        why: 'own: a public and an inner address in one answer',
      },
      {
        url: 'https://rebind.shop.example/',
        expect: 'no_connect',
        dns: [['93.184.216.34'], ['192.168.0.10']],
        why: 'own: public at first, inner later',
      },
      {
        url: 'https://mapped.shop.example/',
        expect: 'no_connect',
        dns: [['::ffff:10.1.2.3']],
        why: 'own: mapped',
      },
      {
        url: 'https://alias.shop.example/',
        expect: 'no_connect',
        dns: ['CNAME metadata.shop.example'],
        why: 'own: another name of an inner address',
      },
      {
        url: 'https://nobody.shop.example/',
        expect: 'error_not_crash',
        dns: ['NXDOMAIN'],
        why: 'own: no such name',
      },
      {
        url: 'https://shop.invalid/hooks',
        expect: 'error_not_crash',
        why: 'own: a name that does not resolve',
      },
    ],
    'webhook/callback_urls.jsonl',
    (rows) => rows,
  );
