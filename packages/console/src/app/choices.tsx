import { Text } from '@mantine/core';
import type { ReactNode } from 'react';

interface ChoicesProps {
  /** Of the checkboxes. */
  name: string;
  legend: string;
  /** What the service says of them. */
  wrong: string | undefined;
  /** A label with a checkbox for each choice. */
  children: ReactNode;
}

/** Checkboxes of a form; what is wrong with them stands below. */
export function Choices({ name, legend, wrong, children }: ChoicesProps) {
  const id = `wrong-${name}`;
  return (
    <>
      <fieldset className="choices" aria-describedby={wrong && id}>
        <legend>{legend}</legend>
        {children}
      </fieldset>
      {wrong !== undefined && (
        <Text id={id} size="sm" c="var(--bad)">
          {wrong}
        </Text>
      )}
    </>
  );
}
