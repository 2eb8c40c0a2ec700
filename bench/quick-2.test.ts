import { testQuickForms } from './measure/quick-forms.ts';

testQuickForms(2, 4);
