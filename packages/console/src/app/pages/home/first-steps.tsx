import { Button, Code, Group, Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Section } from '../../detail.tsx';
import { useMay, usePlace } from '../../place.ts';

/** What of the first hour is done, as the service sees it. */
export interface FirstSteps {
  key: boolean;
  request: boolean;
  payment: boolean;
  webhook: boolean;
  person: boolean;
}

interface Step {
  name: keyof FirstSteps;
  text: string;
  folder?: string;
  needs?: string;
  command?: string;
}

const STEPS: readonly Step[] = [
  { name: 'key', text: 'Make an API key', folder: 'keys', needs: 'edit_keys' },
  { name: 'request', text: 'Send a signed request', command: 'npx florin balance' },
  { name: 'payment', text: 'Take a payment', command: 'npx florin checkout create 12.50 USD' },
  { name: 'webhook', text: 'Have events sent to your server', folder: 'webhooks', needs: 'see_requests' },
  { name: 'person', text: 'Invite somebody', folder: 'team', needs: 'manage_users' },
];

function StepLine({
  step: { text, folder, needs = 'see', command },
  isDone,
}: {
  step: Step;
  isDone: boolean;
}) {
  const { merchant, store } = usePlace();
  const may = useMay(needs);
  return (
    <li>
      <Text span>{isDone ? 'Done: ' : 'To do: '}</Text>
      {!isDone && may && folder !== undefined ? (
        <Link to={`/${merchant}/${store}/${folder}`}>{text}</Link>
      ) : (
        <Text span>{text}</Text>
      )}
      {!isDone && command !== undefined && <Code className="curl"> {command}</Code>}
    </li>
  );
}

/** The first hour, for those who set the store up: gone once everything is done, or once the person says so on this browser. */
export function FirstStepsList({ steps }: { steps: FirstSteps }) {
  const { store } = usePlace();
  const isTheirs = [useMay('edit_keys'), useMay('manage_users')].includes(true);
  const kept = `florin-first-steps-${store}`;
  const [isGone, setGone] = useState(localStorage.getItem(kept) !== null);
  if (!isTheirs || isGone || STEPS.every(({ name }) => steps[name])) return null;
  const dismiss = () => {
    localStorage.setItem(kept, 'gone');
    setGone(true);
  };
  return (
    <Section title="First steps">
      <Stack gap="xs">
        <ul className="timeline">
          {STEPS.map((step) => (
            <StepLine key={step.name} step={step} isDone={steps[step.name]} />
          ))}
        </ul>
        <Group>
          <Button variant="default" size="xs" onClick={dismiss}>
            Do not show this again
          </Button>
        </Group>
      </Stack>
    </Section>
  );
}
