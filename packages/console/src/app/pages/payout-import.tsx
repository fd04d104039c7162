import type { PlannedBatch } from '@florin/contract/payout-file';
import { Anchor, Stack, Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useMay, usePlace } from '../place.ts';
import { CheckRows } from './payout-import/check-rows.tsx';
import { ChooseFile, type ReadFile } from './payout-import/choose-file.tsx';
import { MakeDrafts } from './payout-import/drafts.tsx';

interface Plan {
  planned: PlannedBatch[];
  reference: string;
}

function Steps() {
  const [file, setFile] = useState<ReadFile>();
  const [plan, setPlan] = useState<Plan>();
  const [isMade, setMade] = useState(false);
  if (file === undefined) return <ChooseFile take={setFile} />;
  return (
    <>
      {plan !== undefined && (
        <MakeDrafts {...plan} done={() => setMade(true)} back={() => setPlan(undefined)} />
      )}
      {/* Stays, so that edits are there again when somebody comes back. */}
      <div hidden={plan !== undefined}>
        <CheckRows
          file={file}
          isMade={isMade}
          done={(planned, reference) => setPlan({ planned, reference })}
          back={() => setFile(undefined)}
        />
      </div>
    </>
  );
}

/** Payouts from a file: rows are checked and mended here, drafts made of them, and the drafts submitted. */
export function PayoutImportPage() {
  const { merchant, store } = usePlace();
  const may = useMay('create_payouts');
  return (
    <Stack>
      <Anchor component={Link} to={`/${merchant}/${store}/payouts`} size="sm">
        ← Payouts
      </Anchor>
      <Title order={1} size="h2">
        Payouts from a file
      </Title>
      {may ? <Steps /> : <Text>Owners, admins and finance may create payouts.</Text>}
    </Stack>
  );
}
