import type { ComponentChildren, VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { directionOf, type PageLanguage } from '../views/languages.ts';

/** Text that is not escaped: a style sheet of ours, or JSON. */
export const raw = (text: string) => ({ __html: text });

/** The HTML of a whole document, of a page or of a mail. */
export function documentOf(props: {
  language: PageLanguage;
  title: string;
  css: string;
  /** Values that replace some of the style sheet. */
  accentCss?: string | undefined;
  /** More of the head. */
  head?: VNode;
  children: ComponentChildren;
}): string {
  const { language, title, css, accentCss, head, children } = props;
  const html = renderToString(
    <html lang={language} dir={directionOf(language)}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{title}</title>
        {head}
        <style dangerouslySetInnerHTML={raw(css)} />
        {accentCss === undefined ? null : <style dangerouslySetInnerHTML={raw(accentCss)} />}
      </head>
      <body>{children}</body>
    </html>,
  );
  return `<!doctype html>\n${html}\n`;
}
