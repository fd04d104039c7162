import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isIP } from 'node:net';

/** A certificate and its key, both in PEM. */
export interface Identity {
  cert: string;
  key: string;
}

export interface CertificateOptions {
  /** Host names and IPv4 addresses that it is for. */
  names: readonly string[];
  /** Unix milliseconds; default: from yesterday, for 30 days. */
  validMs?: readonly [from: number, to: number];
}

const DAY_MS = 86_400_000;
const SEQUENCE = 0x30;
const SET = 0x31;
const ECDSA_WITH_SHA256 = der(SEQUENCE, oid('2a8648ce3d040302'));
const COMMON_NAME = oid('550403');
const BASIC_CONSTRAINTS = oid('551d13');
const ALTERNATIVE_NAMES = oid('551d11');

/** One value of ASN.1 in DER. */
function der(tag: number, ...content: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(content);
  if (body.length < 0x80) return Buffer.concat([Buffer.of(tag, body.length), body]);
  const length = Buffer.of(body.length >> 8, body.length & 0xff);
  return Buffer.concat([Buffer.of(tag, 0x82), length, body]);
}

function oid(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, 'hex'));
}

function nameOf(commonName: string): Buffer {
  return der(SEQUENCE, der(SET, der(SEQUENCE, COMMON_NAME, der(0x0c, Buffer.from(commonName)))));
}

function timeOf(unixMs: number): Buffer {
  const digits = new Date(unixMs).toISOString().replace(/\D/g, '').slice(0, 14);
  return der(0x18, Buffer.from(`${digits}Z`));
}

function extension(id: Buffer, value: Buffer): Buffer {
  return der(SEQUENCE, id, der(0x04, value));
}

function alternativeNames(names: readonly string[]): Buffer {
  const entries = names.map((name) =>
    isIP(name) === 4 ? der(0x87, Buffer.from(name.split('.').map(Number))) : der(0x82, Buffer.from(name)),
  );
  return extension(ALTERNATIVE_NAMES, der(SEQUENCE, ...entries));
}

interface Issuer {
  name: string;
  key: KeyObject;
}

interface Subject extends CertificateOptions {
  name: string;
  publicKey: KeyObject;
  isAuthority: boolean;
}

/** An X.509 certificate, version 3, by RFC 5280. */
function certificate(issuer: Issuer, subject: Subject): string {
  const [from, to] = subject.validMs ?? [Date.now() - DAY_MS, Date.now() + 30 * DAY_MS];
  const extensions = subject.isAuthority
    ? extension(BASIC_CONSTRAINTS, der(SEQUENCE, der(0x01, Buffer.of(0xff))))
    : alternativeNames(subject.names);
  const serial = randomBytes(8);
  serial.writeUInt8(1, 0);
  const content = der(
    SEQUENCE,
    der(0xa0, der(0x02, Buffer.of(2))),
    der(0x02, serial),
    ECDSA_WITH_SHA256,
    nameOf(issuer.name),
    der(SEQUENCE, timeOf(from), timeOf(to)),
    nameOf(subject.name),
    subject.publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, der(SEQUENCE, extensions)),
  );
  const signature = der(0x03, Buffer.of(0), sign('sha256', content, issuer.key));
  const base64 = der(SEQUENCE, content, ECDSA_WITH_SHA256, signature).toString('base64');
  const lines = base64.match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}

function newKeys() {
  return generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
}

function pemOf(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }) as string;
}

/** A certificate that its own key has signed. */
export function selfSigned(options: CertificateOptions): Identity {
  const { privateKey, publicKey } = newKeys();
  const name = 'Self-signed';
  const cert = certificate({ name, key: privateKey }, { ...options, name, publicKey, isAuthority: false });
  return { cert, key: pemOf(privateKey) };
}

/** A certificate authority for one test. */
export class Authority {
  readonly #keys = newKeys();
  readonly #name = `Test authority ${randomBytes(4).toString('hex')}`;
  /** To be trusted (PEM). */
  readonly cert: string;

  constructor() {
    const { privateKey, publicKey } = this.#keys;
    const subject = { name: this.#name, names: [], publicKey, isAuthority: true };
    this.cert = certificate({ name: this.#name, key: privateKey }, subject);
  }

  issue(options: CertificateOptions): Identity {
    const { privateKey, publicKey } = newKeys();
    const issuer = { name: this.#name, key: this.#keys.privateKey };
    const cert = certificate(issuer, { ...options, name: 'Receiver', publicKey, isAuthority: false });
    return { cert, key: pemOf(privateKey) };
  }
}
