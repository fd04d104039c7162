import Type, { type Static } from 'typebox';
import { type Approver, type ApproverKey, isSoundKey, SPKI_HEAD } from './approver-key.ts';
import { isPasskeyKey } from './passkey.ts';
import { Address, addressIn, closed, mistake } from './policy-text.ts';

// The part of a policy about people.

const Key = Type.String({ pattern: '^0x[0-9a-f]{64}$', description: '0x and 64 small hex digits in quotes' });
const PasskeyText = closed({
  key: Type.String({
    pattern: '^0x(?:[0-9a-f]{2})+$',
    maxLength: 1_200,
    description: 'what florin approvers passkey shows: 0x and small hex digits in quotes',
  }),
  rp_id: Type.String({
    pattern: '^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$',
    maxLength: 253,
    description: 'the name of the console, such as "console.example.com"',
  }),
  origin: Type.String({ maxLength: 300 }),
});
export const ApproverText = closed({
  name: Type.String({ minLength: 1, maxLength: 100 }),
  ed25519: Type.Optional(Key),
  ethereum: Type.Optional(Address),
  passkeys: Type.Optional(Type.Array(PasskeyText, { minItems: 1, maxItems: 10 })),
});
type ApproverText = Static<typeof ApproverText>;

/** One for each key, those of a person one after the other. @throws SignerMistake */
export function approversOf(list: readonly ApproverText[]): Approver[] {
  const names = list.map(({ name }) => name);
  refuseTwice('name', names);
  const approvers = list.flatMap((one, i) =>
    keysOf(one, `approvers.${i}`).map((key): Approver => ({ name: one.name, ...key })),
  );
  refuseTwice('key', approvers.map(bareKeyOf));
  return approvers;
}

const ED25519_HEAD = `0x${SPKI_HEAD.toString('hex')}`;

/** One key of Ed25519 may be written by itself and as that of a passkey. */
const bareKeyOf = ({ key }: Approver) =>
  key.startsWith(ED25519_HEAD) ? `0x${key.slice(ED25519_HEAD.length)}` : key;

function refuseTwice(field: string, values: readonly string[]): void {
  const twice = values.find((value, i) => values.indexOf(value) < i);
  if (twice !== undefined) throw mistake(`two approvers have the ${field} ${twice}.`);
}

function keysOf({ name, ed25519, ethereum, passkeys = [] }: ApproverText, at: string): ApproverKey[] {
  const hasBoth = ed25519 !== undefined && ethereum !== undefined;
  if (hasBoth || (ed25519 === undefined && ethereum === undefined && passkeys.length === 0))
    throw mistake(`${at} (${name}) needs one of ed25519 and ethereum, or passkeys.`);
  if (ed25519 !== undefined && !isSoundKey(ed25519)) throw mistake(`${at}.ed25519 is no public key.`);
  const signing: ApproverKey[] = [
    ...(ed25519 === undefined ? [] : [{ kind: 'ed25519', key: ed25519 } as const]),
    ...(ethereum === undefined
      ? []
      : [{ kind: 'ethereum', key: addressIn(ethereum, `${at}.ethereum`) } as const]),
  ];
  return [...signing, ...passkeys.map((text, i) => passkeyOf(text, `${at}.passkeys.${i}`))];
}

function passkeyOf({ key, rp_id: rpId, origin }: Static<typeof PasskeyText>, at: string): ApproverKey {
  if (!isPasskeyKey(key))
    throw mistake(`${at}.key is no public key of P-256, of Ed25519, or of RSA with 2,048 to 4,096 bits.`);
  const { protocol, hostname, origin: written } = URL.parse(origin) ?? {};
  if (written !== origin || hostname === undefined)
    throw mistake(`${at}.origin is no origin such as "https://console.example.com".`);
  if (protocol !== 'https:' && !(protocol === 'http:' && hostname === 'localhost'))
    throw mistake(`${at}.origin is not https.`);
  if (hostname !== rpId && !hostname.endsWith(`.${rpId}`))
    throw mistake(`${at}.origin is not of ${rpId}: browsers would never say both.`);
  return { kind: 'passkey', key, rpId, origin };
}
