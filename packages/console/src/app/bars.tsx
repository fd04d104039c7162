import { Group, Stack, Text } from '@mantine/core';

const HEIGHT = 100;

export interface Bar {
  label: string;
  /** For the height alone: what is shown as a number is `text`. */
  value: number;
  text: string;
}

interface BarsProps {
  title: string;
  bars: readonly Bar[];
  /** The value of a full bar; by default the highest. */
  full?: number;
}

/** Bars side by side. Who cannot see them has the table beside them. */
export function Bars({ title, bars, full }: BarsProps) {
  const highest = bars.reduce<Bar | undefined>(
    (best, bar) => (bar.value > (best?.value ?? 0) ? bar : best),
    undefined,
  );
  const top = full ?? highest?.value ?? 1;
  const summary = highest === undefined ? 'nothing' : `most ${highest.text}, ${highest.label}`;
  return (
    <Stack gap={2}>
      <Text size="sm">
        {title}: {summary}
      </Text>
      <svg
        className="bars"
        role="img"
        aria-label={`${title}: ${summary}. The table has every day.`}
        viewBox={`0 0 ${Math.max(1, bars.length) * 10} ${HEIGHT}`}
        preserveAspectRatio="none"
      >
        {bars.map(({ label, value, text }, index) => {
          const height = value === 0 ? 0 : Math.max(1, (value / top) * HEIGHT);
          return (
            <rect key={label} x={index * 10 + 1} y={HEIGHT - height} width={8} height={height}>
              <title>{`${label}: ${text}`}</title>
            </rect>
          );
        })}
      </svg>
      <Group justify="space-between">
        <Text size="xs">{bars.at(0)?.label}</Text>
        <Text size="xs">{bars.at(-1)?.label}</Text>
      </Group>
    </Stack>
  );
}
