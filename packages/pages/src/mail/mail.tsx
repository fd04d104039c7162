import { translatorOf } from '../catalogues.ts';
import { documentOf } from '../design/document.tsx';
import { MAIL_ROWS, type MailView, type RenderedMail } from '../views/mail.ts';
import css from './mail.css?inline';

interface Parts {
  subject: string;
  test: string | undefined;
  text: string;
  rows: readonly (readonly [name: string, value: string])[];
  button: { label: string; url: string } | undefined;
  foot: string;
}

function partsOf(view: MailView, publicUrl: string): Parts {
  const { kind, language, storeName, isTest, rows, link } = view;
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
    foot: t('foot', values),
  };
}

/** @param publicUrl the service's address, before which links are put */
export function renderMail(view: MailView, publicUrl: string): RenderedMail {
  const parts = partsOf(view, publicUrl);
  return { subject: parts.subject, text: textOf(parts), html: htmlOf(view, parts) };
}

function textOf({ test, text, rows, button, foot }: Parts): string {
  const blocks = [
    ...(test === undefined ? [] : [test]),
    text,
    ...(rows.length === 0 ? [] : [rows.map(([name, value]) => `${name}: ${value}`).join('\n')]),
    ...(button === undefined ? [] : [`${button.label}:\n${button.url}`]),
    foot,
  ];
  return `${blocks.join('\n\n')}\n`;
}

function htmlOf({ language, storeName }: MailView, parts: Parts): string {
  const { subject, test, text, rows, button, foot } = parts;
  return documentOf({
    language,
    title: subject,
    css,
    children: (
      <div class="mail">
        {test === undefined ? null : <p class="test">{test}</p>}
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
        <p class="quiet">{foot}</p>
      </div>
    ),
  });
}
