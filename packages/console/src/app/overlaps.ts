/** How long an old secret stays good. */
export const OVERLAPS = [
  { value: '86400', label: '24 hours' },
  { value: '3600', label: 'an hour' },
  { value: '604800', label: '7 days' },
  { value: '0', label: 'not at all: it ends at once' },
];
