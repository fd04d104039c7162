import { expect, test } from 'vitest';
import { brokenLinks } from './links.ts';
import { resolveLink } from './markdown.ts';
import { menuFaults, NAVIGATION } from './navigation.ts';
import { sectionsOf } from './search-index.ts';
import { arrowsOf, drawStates } from './state-drawing.ts';

const page = (link: string) => `<main id="content"><h1 id="top">T</h1><a href="${link}">x</a></main>`;

test('links to pages and anchors that are there pass, others are named', () => {
  const pages = new Map([
    ['/docs/a', page('/docs/b#top')],
    ['/docs/b', page('#top') + page('https://elsewhere.example/') + page('/docs/api')],
    ['/docs/c', page('/docs/b#gone') + page('/docs/nothing') + page('#gone') + page('/docs/assets/x.css')],
  ]);
  expect(brokenLinks(pages, new Set(['/docs/assets/x.css']))).toEqual([
    '/docs/c: /docs/b#gone',
    '/docs/c: /docs/nothing',
    '/docs/c: #gone',
  ]);
});

test('a link between files leads to the pages made of them, and to nowhere else', () => {
  const files = new Map([
    ['docs/a.md', '/docs/a'],
    ['examples/shop.ts', '/docs/examples/shop'],
  ]);
  expect(resolveLink('a.md#part', 'docs/b.md', files)).toBe('/docs/a#part');
  expect(resolveLink('../examples/shop.ts', 'docs/b.md', files)).toBe('/docs/examples/shop');
  expect(resolveLink('../a.md', 'docs/decisions/1.md', files)).toBe('/docs/a');
  expect(() => resolveLink('../README.md', 'docs/b.md', files)).toThrow(
    /docs\/b\.md links to \.\.\/README\.md/,
  );
});

test('a page that the menu lacks, and one that only the menu has, are named', () => {
  const names = NAVIGATION.flatMap(({ pages }) => pages.map(({ name }) => name));
  expect(menuFaults([...names, 'events/payment.completed'])).toEqual([]);
  expect(menuFaults([...names.slice(1), 'forgotten'])).toEqual([
    `the menu lists ${names[0]}, which is not there`,
    'forgotten is not in the menu',
  ]);
});

test('the search has a page by its sections', () => {
  const html =
    '<article>\n<h1 id="t">A &amp; B</h1>\n<p>one</p><h2 id="x">Part <code>c</code></h2><p>two</p></article>';
  expect(sectionsOf('/docs/t', html)).toMatchObject([
    { id: '/docs/t', title: 'A & B', heading: '', text: 'one' },
    { id: '/docs/t#x', title: 'A & B', heading: 'Part c', text: 'two' },
  ]);
});

test('a drawing shows every state and move, in words as well; what it cannot read is refused', () => {
  const source = 'stateDiagram-v2\n  [*] --> open\n  open --> paid\n  paid --> [*]\n';
  const svg = drawStates(source, 'bill', 'one');
  expect(svg).toContain('aria-label="begins as open; open to paid; paid is an end."');
  expect(svg.match(/<rect/g)).toHaveLength(2);
  expect(svg.match(/marker-end/g)).toHaveLength(3);
  expect(svg).not.toMatch(/NaN|undefined| style=/);
  expect(() => arrowsOf('stateDiagram-v2\n  open : text\n')).toThrow('no arrow');
});
