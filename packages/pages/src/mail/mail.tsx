import { MERCHANT_MAIL_KINDS, PEOPLE_MAIL_KINDS } from '@florin/contract/schemas';
import { translatorOf } from '../catalogues.ts';
import { ACCENT, accentColours } from '../design/accent.ts';
import { documentOf } from '../design/document.tsx';
import { MAIL_ROWS, type MailView, type RenderedMail } from '../views/mail.ts';
import { NO_BRAND } from '../views/payer-page.ts';
import css from './mail.css?inline';

interface Parts {
  subject: string;
  test: string | undefined;
  text: string;
  rows: readonly (readonly [name: string, value: string])[];
  button: { label: string; url: string } | undefined;
  foot: string;
  logo: string | undefined;
  support: { href: string; text: string } | null;
  terms: { label: string; url: string } | undefined;
}

/** Why the reader got the mail, or whom to ask: payers, the merchant's people and people of the console each have their own. */
function footOf(kind: MailView['kind']): 'foot' | 'foot_merchant' | 'foot_people' {
  if (MERCHANT_MAIL_KINDS.some((one) => one === kind)) return 'foot_merchant';
  return PEOPLE_MAIL_KINDS.some((one) => one === kind) ? 'foot_people' : 'foot';
}

function partsOf(view: MailView, publicUrl: string): Parts {
  const { kind, language, storeName, brand = NO_BRAND, isTest, rows, link } = view;
  const t = translatorOf('mail', language);
  const values = { ...view.values, store: storeName };
  return {
    subject: t(`${kind}_subject`, values),
    test: isTest ? translatorOf('shell', language)('test_mode') : undefined,
    text: t(`${kind}_text`, values),
    rows: MAIL_ROWS.flatMap((row) => {
      const value = rows[row];
      return value === undefined ? [] : [[t(`row_${row}`), value] as const];
    }),
    button:
      link === null ? undefined : { label: t(`button_${link.to}`), url: new URL(link.path, publicUrl).href },
    foot: t(footOf(kind), values),
    logo: brand.logo === null ? undefined : `${publicUrl}/${brand.logo.path}`,
    support: brand.support,
    terms:
      brand.terms === null
        ? undefined
        : { label: translatorOf('shell', language)('terms', values), url: brand.terms },
  };
}

/** @param publicUrl the service's address, before which links are put */
export function renderMail(view: MailView, publicUrl: string): RenderedMail {
  const parts = partsOf(view, publicUrl);
  return { subject: plain(parts.subject), text: plain(textOf(parts)), html: htmlOf(view, parts) };
}

/** Lines are broken by whoever shows plain text; tests and searches expect the space that one types. */
const plain = (text: string) => text.replaceAll('\u00a0', ' ');

function textOf({ test, text, rows, button, foot, support, terms }: Parts): string {
  const blocks = [
    ...(test === undefined ? [] : [test]),
    text,
    ...(rows.length === 0 ? [] : [rows.map(([name, value]) => `${name}: ${value}`).join('\n')]),
    ...(button === undefined ? [] : [`${button.label}:\n${button.url}`]),
    [
      foot,
      ...(support === null ? [] : [support.text]),
      ...(terms === undefined ? [] : [`${terms.label}: ${terms.url}`]),
    ].join('\n'),
  ];
  return `${blocks.join('\n\n')}\n`;
}

/** Mail programs know no variables, so the colour is written where it is used. */
function accentCssOf(accent: string | null): string | undefined {
  if (accent === null || !ACCENT.test(accent)) return undefined;
  const { light, dark } = accentColours(accent);
  const button = ({ accent: ground, onAccent }: typeof light) =>
    `.button{background:${ground};color:${onAccent}}`;
  return `${button(light)}@media (prefers-color-scheme:dark){${button(dark)}}`;
}

function htmlOf({ language, storeName, brand = NO_BRAND }: MailView, parts: Parts): string {
  const { subject, test, text, rows, button, foot, logo, support, terms } = parts;
  return documentOf({
    language,
    title: subject,
    css,
    accentCss: accentCssOf(brand.accent),
    children: (
      <div class="mail">
        {test === undefined ? null : <p class="test">{test}</p>}
        {logo === undefined ? null : <img class="logo" src={logo} alt="" height={40} />}
        <p class="store">
          <bdi>{storeName}</bdi>
        </p>
        <h1>{subject}</h1>
        <p>{text}</p>
        {rows.length === 0 ? null : (
          <table role="presentation">
            {rows.map(([name, value]) => (
              <tr key={name}>
                <td class="quiet">{name}</td>
                <td>
                  <bdi>{value}</bdi>
                </td>
              </tr>
            ))}
          </table>
        )}
        {button === undefined ? null : (
          <p>
            <a class="button" href={button.url}>
              {button.label}
            </a>
          </p>
        )}
        <p class="quiet">
          {foot}
          {support === null ? null : (
            <>
              {' '}
              <a href={support.href}>{support.text}</a>
            </>
          )}
        </p>
        {terms === undefined ? null : (
          <p class="quiet">
            <a href={terms.url}>{terms.label}</a>
          </p>
        )}
      </div>
    ),
  });
}
