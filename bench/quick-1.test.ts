import { testQuickForms } from './measure/quick-forms.ts';

testQuickForms(1, 4);
